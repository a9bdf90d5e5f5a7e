#include "sfumato/lab/ledger/identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "lab/ledger/identity_rows.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/storage/query.hpp"

namespace sfumato::lab {
namespace {

constexpr std::string_view kChecksum = "checksum.";

std::string digest_of(const LedgerIdentity& identity) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", identity.study, identity.version, identity.instruction_set);
  for (const auto& [name, checksum] : identity.checksums) {
    text += fmt::format("{} {}\n", name, checksum);
  }
  return sha256(text);
}

}  // namespace

std::map<std::string, std::string> identity_rows(const LedgerIdentity& identity) {
  std::map<std::string, std::string> rows = {{"study", identity.study},
                                             {"version", identity.version},
                                             {"instruction_set", identity.instruction_set},
                                             {"digest", digest_of(identity)}};
  for (const auto& [name, checksum] : identity.checksums) {
    rows[std::string(kChecksum) + name] = checksum;
  }
  return rows;
}

LedgerIdentity identity_of(const std::map<std::string, std::string>& rows,
                           const std::string& path) {
  LedgerIdentity identity;
  std::string digest;
  for (const auto& [key, value] : rows) {
    if (key == "study") identity.study = value;
    if (key == "version") identity.version = value;
    if (key == "instruction_set") identity.instruction_set = value;
    if (key == "digest") digest = value;
    if (key.starts_with(kChecksum)) identity.checksums[key.substr(kChecksum.size())] = value;
  }
  if (digest != digest_of(identity)) refuse_damaged(path, "its study is not what was written");
  return identity;
}

void require_same(const LedgerIdentity& theirs, const LedgerIdentity& ours,
                  const StudyDifferences& differences, const std::string& path) {
  const auto refuse = [&](const std::string& problem) {
    throw InvalidArgument(problem, "Use another ledger for this run (`ledger`)", Where::in(path));
  };
  if (theirs.study != ours.study) {  // which may be the same in the words of an earlier version
    const std::vector<std::string> others = differences(theirs.study, ours.study);
    if (!others.empty()) refuse(fmt::format("holds another study: {}", fmt::join(others, "; ")));
  }
  if (theirs.version != ours.version) {
    refuse(fmt::format("was started by version {}, but this is {}", theirs.version, ours.version));
  }
  if (theirs.instruction_set != ours.instruction_set) {
    refuse(fmt::format("was computed with {}, but this machine uses {}", theirs.instruction_set,
                       ours.instruction_set));
  }
  for (const auto& [key, value] : ours.checksums) {
    const auto found = theirs.checksums.find(key);
    if (found == theirs.checksums.end() || found->second != value) {
      refuse(fmt::format("was computed from different data: the checksum of {} differs", key));
    }
  }
}

}  // namespace sfumato::lab
