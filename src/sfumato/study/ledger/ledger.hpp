#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sfumato/study/ledger/trial.hpp"

namespace sfumato {

/// What a ledger is a ledger of. Trials of another study, build or instruction set do not belong in it.
struct LedgerIdentity {
  std::string study;  ///< its canonical text
  std::string version;
  std::string instruction_set;
  std::map<std::string, std::string> checksums;  ///< SHA-256 of the data, by name
};

/// The SQLite file with every trial of a study: one transaction per trial or group of trials, so that
/// whatever ends the process costs the trials in flight and nothing else.
///
/// All members throw  StorageError if the file cannot be written or has no room.
class Ledger {
 public:
  /// Opens the ledger to add trials to it, or makes it; one process at a time may.
  ///
  /// `identity` is compared with what an old ledger holds.
  /// Throws   InvalidArgument with the path if the file is no ledger, is damaged, is of another schema
  ///          version, build, instruction set, data or study (with `differences(theirs, ours)`), or is
  ///          open in another process; StorageError if it is read-only.
  using Differences =
      std::function<std::vector<std::string>(const std::string& theirs, const std::string& ours)>;
  static Ledger open(const std::string& path, const LedgerIdentity& identity,
                     const Differences& differences);
  /// Opens an existing ledger to read, also while another process adds to it.
  static Ledger read(const std::string& path);
  /// Whether a process has it open to add trials.
  [[nodiscard]] static bool is_growing(const std::string& path);

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] const LedgerIdentity& identity() const;

  /// Adds trials in one transaction.
  /// Throws   InternalError if one is there already.
  void commit(const std::vector<TrialResult>& trials);

  [[nodiscard]] std::set<TrialKey> finished() const;
  [[nodiscard]] std::map<TrialStatus, std::uint64_t> counts() const;
  /// Names of the scores of its models, in the order in which the models have them.
  [[nodiscard]] std::vector<std::string> score_names() const;
  /// Calls `use` for every trial in the order of the keys: policy, pair, replica. Worlds, scores and
  /// series as they were committed.
  /// Throws   InvalidArgument if a trial is not what was committed: each carries its SHA-256.
  void for_each(const std::function<void(const TrialResult&)>& use) const;

  /// How many groups the last run trained at once; 0: it has not said.
  void record_workers(unsigned workers);
  [[nodiscard]] unsigned workers() const;

  /// Look `number` at the ledger by an audit, with the number of finished trials it saw: looks split the
  /// level (study/looks.hpp). Writes to the file, also if it was opened to read.
  void record_look(std::uint64_t number, std::uint64_t trials) const;
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> looks() const;  ///< trials by number

 private:
  class Connection;
  explicit Ledger(std::unique_ptr<Connection> connection);
  static void require_whole(const Connection& connection, const std::string& path);
  std::unique_ptr<Connection> connection_;
};

[[nodiscard]] std::string_view name(TrialStatus status);

}  // namespace sfumato
