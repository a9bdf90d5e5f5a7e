#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace sfumato::cli {

/// What the commands of `sfumato study` are asked for; each reads the part that it declares.
struct StudyOptions {
  std::string file, ledger, out;
  std::vector<std::string> settings;
  unsigned threads = 0;  ///< 0: all cores
  unsigned ranks = 0;    ///< plan: 0: none
  std::optional<double> epsilon, delta, confidence;
  double seconds = 2.0;               ///< plan: to measure
  std::uint64_t sample = 10;          ///< verify: trials
  std::optional<std::uint64_t> seed;  ///< verify: of the sample
  bool timings = false;
  bool force = false;  ///< export: replace a file
  bool json = false;
};

ExitCode run_study_command(const StudyOptions& options);
ExitCode plan_study(const StudyOptions& options);
ExitCode show_study_status(const StudyOptions& options);
ExitCode export_study(const StudyOptions& options);
ExitCode copy_study(const StudyOptions& options);
ExitCode verify_study(const StudyOptions& options);

}  // namespace sfumato::cli
