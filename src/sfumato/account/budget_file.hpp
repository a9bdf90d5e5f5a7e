#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sfumato/storage/connection.hpp"

namespace sfumato {

/// One run that was booked in a budget. From the moment it is reserved it counts, whatever becomes of the run.
struct BudgetEntry {
  std::int64_t number = 0;
  std::string time;     ///< of the reservation, UTC
  std::string command;  ///< what was run: "fit"
  std::string account;  ///< its releases, as save() wrote them
  std::string state;    ///< "reserved", then "released"
  std::string model;    ///< SHA-256 of the model; empty while reserved, or where there is none
};

/// The limit of a budget; set once.
struct BudgetTerms {
  double epsilon = 0.0, delta = 0.0;
  std::string adjacency;
  friend bool operator==(const BudgetTerms&, const BudgetTerms&) = default;
};

/// A ledger of what was spent on the records of one data set, as an SQLite file. Every change is one transaction under the lock of the file and on the disk before it counts: processes that
/// run at once see each other, and what a killed one had reserved stays. A digest of all entries shows accidents and edits by hand.
class BudgetFile {
 public:
  using Check = std::function<void(const BudgetTerms&, const std::vector<BudgetEntry>&)>;
  struct Reserved;

  /// Opens the file for a booking, or makes it, and reserves in one transaction: the terms are `terms` if it is new; `check` sees them and what was booked before, and
  /// throws if the entry may not be added. A new file has its name only once the entry is in it.
  /// Throws   InvalidArgument if it is no budget, damaged or empty; StorageError.
  [[nodiscard]] static Reserved reserve(const std::string& path, const BudgetTerms& terms,
                                        const BudgetEntry& entry, const Check& check);
  /// Opens one that exists, to read it.
  [[nodiscard]] static BudgetFile read(const std::string& path);

  /// The run has come to its end: its entry, as it was reserved, gets the digest of its model.
  /// Throws   StorageError if the entry is gone: the file is another one now, or an older copy of itself.
  void release(std::int64_t number, const BudgetEntry& reserved, const std::string& model);

  /// Throws   InvalidArgument if nothing was ever booked.
  [[nodiscard]] BudgetTerms terms() const;
  [[nodiscard]] std::vector<BudgetEntry> entries() const;

 private:
  BudgetFile(const std::string& path, DatabaseConnection::For purpose);
  std::int64_t add(const BudgetTerms& terms, const BudgetEntry& entry, const Check& check,
                   bool is_new);
  void record_content();

  DatabaseConnection connection_;
};

/// A budget with a new entry.
struct BudgetFile::Reserved {
  std::unique_ptr<BudgetFile> file;
  std::int64_t number;
  bool made;  ///< the file is new
};

}  // namespace sfumato
