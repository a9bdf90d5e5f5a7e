#pragma once

#include <cstdint>
#include <functional>
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

/// What a budget allows; set once.
struct BudgetTerms {
  double epsilon = 0.0, delta = 0.0;
  std::string adjacency;
  friend bool operator==(const BudgetTerms&, const BudgetTerms&) = default;
};

/// What was spent on the records of one data set, as an SQLite file. Every change is one transaction under the lock of the file and on the disk before it counts: processes that
/// run at once see each other, and what a killed one had reserved stays. A digest of all entries shows accidents and edits by hand.
class BudgetFile {
 public:
  /// Opens the file for a booking; makes it if there is none.
  /// Throws   InvalidArgument if it is no budget or damaged; StorageError.
  explicit BudgetFile(const std::string& path);
  /// Opens one that exists, to read it.
  [[nodiscard]] static BudgetFile read(const std::string& path);

  /// In one transaction: the terms are `terms` if there are none yet; `check` sees them and what was booked before, and throws if the entry may not be added. The entry's number.
  std::int64_t reserve(
      const BudgetTerms& terms, const BudgetEntry& entry,
      const std::function<void(const BudgetTerms&, const std::vector<BudgetEntry>&)>& check);
  /// The run has come to its end.
  void release(std::int64_t number, const std::string& model);

  /// Throws   InvalidArgument if nothing was ever booked.
  [[nodiscard]] BudgetTerms terms() const;
  [[nodiscard]] std::vector<BudgetEntry> entries() const;

 private:
  BudgetFile(const std::string& path, DatabaseConnection::For purpose);
  void record_content();

  DatabaseConnection connection_;
};

}  // namespace sfumato
