#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace sfumato {

/// A directory of its own for one test, removed at the end. In memory where that is possible: written
/// files are flushed, which on a disk takes some 20 ms each.
class TempDir {
 public:
  TempDir() {
    const bool memory = ::access("/dev/shm", W_OK) == 0;
    const std::filesystem::path parent =
        memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "sfumato-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      (void)entry;
      ++count;
    }
    return count;
  }

 private:
  std::filesystem::path path_;
};

inline void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string get(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// Runs a script in Debian's Python with NumPy as `np`, in directory `dir`; it must succeed.
inline void run_numpy(const TempDir& dir, const std::string& script) {
  put(dir / "script.py", "import numpy as np\n" + script);
  const std::string command = "cd '" + dir.path() + "' && /usr/bin/python3 script.py > log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << get(dir / "log");
}

/// The message with which `action` throws an E, or a note that it did not.
template <class E, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "no exception";
}

}  // namespace sfumato
