#pragma once

#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"

namespace sfumato::cli {

struct ProcessResult {
  bool found = true;   ///< false: there is no such program
  int exit_code = 0;   ///< 128 + signal if a signal ended it
  std::string output;  ///< what it printed, both streams
};

/// Runs a program, looked up on the PATH, in `directory` until it ends. A request to stop ends it.
///
/// Throws   StorageError if the system cannot start it or keep its output.
[[nodiscard]] ProcessResult run_program(const std::vector<std::string>& command,
                                        const std::string& directory, const Observer& observer);

}  // namespace sfumato::cli
