#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sfumato {

/// What a ledger is a ledger of. Trials of another study, build or instruction set do not belong in it.
struct LedgerIdentity {
  std::string study;  ///< its canonical text
  std::string version;
  std::string instruction_set;
  std::map<std::string, std::string> checksums;  ///< SHA-256 of the data, by name
};

/// How two studies differ, for people.
using Differences =
    std::function<std::vector<std::string>(const std::string& theirs, const std::string& ours)>;

/// The identity as rows of the table meta, with its SHA-256.
[[nodiscard]] std::map<std::string, std::string> identity_rows(const LedgerIdentity& identity);
/// Back from them; other rows are left aside. `path` is what messages call the ledger.
/// Throws   InvalidArgument if they are not what identity_rows() gave.
[[nodiscard]] LedgerIdentity identity_of(const std::map<std::string, std::string>& rows,
                                         const std::string& path);

/// Throws   InvalidArgument with the difference if trials of `ours` do not belong into a ledger of `theirs`.
void require_same(const LedgerIdentity& theirs, const LedgerIdentity& ours,
                  const Differences& differences, const std::string& path);

}  // namespace sfumato
