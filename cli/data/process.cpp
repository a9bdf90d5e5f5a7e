#include "data/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"

namespace sfumato::cli {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void open(int descriptor, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0600);
  }
  void copy(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void change_directory(const std::string& path) {
    posix_spawn_file_actions_addchdir_np(&actions_, path.c_str());
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

int wait_for(pid_t child, const Observer& observer) {
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) throw InternalError("a child process cannot be awaited");
    if (observer.stop_requested() && !told) {
      ::kill(child, SIGTERM);
      told = true;
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

ProcessResult run_program(const std::vector<std::string>& command, const std::string& directory,
                          const Observer& observer) {
  const std::string log = directory + "/output.log";
  FileActions actions;
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.open(STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC);
  actions.copy(STDOUT_FILENO, STDERR_FILENO);
  actions.change_directory(directory);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], actions.get(), nullptr, words.data(), environ);
  if (error == ENOENT && ::access(directory.c_str(), W_OK) == 0) return {false, 0, {}};
  if (error != 0) {
    throw StorageError(fmt::format("cannot be started: {}", std::generic_category().message(error)),
                       "Check the permissions and the room on the disk",
                       Where::in(command.front()));
  }
  ProcessResult result;
  result.exit_code = wait_for(child, observer);
  result.output = read_file(log);
  return result;
}

}  // namespace sfumato::cli
