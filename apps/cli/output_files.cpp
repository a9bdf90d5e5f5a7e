#include "output_files.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "help.hpp"

namespace sfumato::apps {
namespace {

constexpr mode_t kNotForOthers = 077, kNotForStrangers = 027;
mode_t users_mask = 0;  // the mask is the process's own; what it was is known to nobody else

}  // namespace

void keep_files_private() {
  users_mask = ::umask(kNotForOthers);
  ::umask(users_mask | kNotForOthers);
}

void write_publicly() { ::umask(users_mask); }

void add_group_flag(CLI::App& command) {
  command
      .add_flag_callback(
          "--group-readable", [] { ::umask(kNotForStrangers); },
          "Make the files that are written readable by your group (0640, not 0600)")
      ->group(kOutputGroup);
}

void add_output_flags(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Overwrite existing files")->group(kOutputGroup);
  add_group_flag(command);
}

}  // namespace sfumato::apps
