#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sfumato/lab/ledger/identity.hpp"
#include "sfumato/lab/ledger/trial.hpp"

namespace sfumato {
class DatabaseConnection;
}

namespace sfumato::lab {

/// The SQLite file with every trial of a study: one transaction per trial or group of trials, so that
/// whatever ends the process costs the trials in flight and nothing else.
///
/// Each trial carries its SHA-256, and the ledger a digest of the set of its trials, looks and notes: a ledger
/// with a bit changed, or a trial or a look removed or added by other means, is refused when it is opened
/// or, where the change is inside a trial, when its trials are read. That is for accidents and edits by hand;
/// who writes a file with digests to match is found by training trials again (study/scheduler/retrain.hpp).
///
/// All members throw  StorageError if the file cannot be written or has no room.
class Ledger {
 public:
  /// Opens the ledger to add trials to it, or makes it (0640, less what the umask takes from the group);
  /// one process at a time may.
  ///
  /// `identity` is compared with what an old ledger holds.
  /// Throws   InvalidArgument with the path if the file is no ledger, is damaged, is of another format,
  ///          build, instruction set, data or study (with `differences(theirs, ours)`), or is open in
  ///          another process; StorageError if it is read-only.
  static Ledger open(const std::string& path, const LedgerIdentity& identity,
                     const StudyDifferences& differences);
  /// Opens an existing ledger to read what it holds now, also while another process adds to it: what is added
  /// later is not seen.
  /// Throws   InvalidArgument as open().
  static Ledger read(const std::string& path);
  /// Whether a process has it open to add trials.
  [[nodiscard]] static bool is_growing(const std::string& path);

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  [[nodiscard]] const LedgerIdentity& identity() const { return identity_; }
  /// As the caller wrote it, for messages.
  [[nodiscard]] const std::string& path() const;

  /// Adds trials in one transaction.
  /// Throws   InternalError if one is there already.
  void commit(const std::vector<TrialResult>& trials);

  [[nodiscard]] std::set<TrialKey> finished() const;
  [[nodiscard]] std::map<TrialStatus, std::uint64_t> counts() const;
  /// Names of the scores of its models, in the order in which the models have them.
  [[nodiscard]] std::vector<std::string> score_names() const;
  /// Calls `use` for every trial in the order of the keys: policy, pair, replica. Worlds, scores and
  /// series as they were committed.
  /// Throws   InvalidArgument if a trial is not what was committed.
  void for_each(const std::function<void(const TrialResult&)>& use) const;

  /// How many groups the last run trained at once; 0: it has not said.
  void record_workers(unsigned workers);
  [[nodiscard]] unsigned workers() const;

  /// Look `number` at the ledger by an audit, with the number of finished trials it saw: looks split the
  /// level (study/looks.hpp). Writes to the file, also if it was opened to read; looks() of a ledger that
  /// was opened to read stay what they were.
  void record_look(std::uint64_t number, std::uint64_t trials) const;
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> looks() const;  ///< trials by number

  /// Writes what it holds, looks included, to a new ledger of today's format (0640 less the umask).
  /// After an error, and if the process is ended, there is no copy or an empty one.
  /// Throws   InvalidArgument if `path` exists or a trial is damaged.
  void copy_to(const std::string& path) const;

 private:
  Ledger(std::unique_ptr<DatabaseConnection> connection, LedgerIdentity identity,
         std::int64_t format);
  std::unique_ptr<DatabaseConnection> connection_;
  LedgerIdentity identity_;
  std::int64_t format_;
};

}  // namespace sfumato::lab
