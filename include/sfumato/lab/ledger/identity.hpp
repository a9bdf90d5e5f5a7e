#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sfumato::lab {

/// What a ledger is a ledger of. Trials of another study, build or instruction set do not belong in it.
struct LedgerIdentity {
  std::string study;  ///< its canonical text
  std::string version;
  std::string instruction_set;
  std::map<std::string, std::string> checksums;  ///< SHA-256 of the data, by name
};

/// How two studies differ, for people.
using StudyDifferences =
    std::function<std::vector<std::string>(const std::string& theirs, const std::string& ours)>;

}  // namespace sfumato::lab
