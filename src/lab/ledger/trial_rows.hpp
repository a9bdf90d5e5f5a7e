#pragma once

#include <functional>

#include "sfumato/lab/ledger/trial.hpp"
#include "sfumato/storage/connection.hpp"
#include "sfumato/storage/content_digest.hpp"

namespace sfumato::lab {

/// The three columns of a trial's key, bound and read in order.
Query& operator<<(Query& query, const TrialKey& key);
/// Throws   InvalidArgument if one of them is no number of a trial.
[[nodiscard]] TrialKey key_of(Query& query);

/// Writes trials as rows of the tables trial, world, score and series, in the caller's transaction.
class TrialWriter {
 public:
  explicit TrialWriter(const DatabaseConnection& connection);
  /// Throws   InternalError if it is there already.
  void put(const TrialResult& trial);
  /// Of what was put.
  [[nodiscard]] const ContentDigest& content() const { return content_; }

 private:
  void put_world(const TrialKey& key, std::int64_t number, const WorldResult& world);

  const DatabaseConnection& connection_;
  Query exists_, trial_, world_, score_, series_;
  ContentDigest content_;
};

/// Throws   InvalidArgument if no status has this name.
[[nodiscard]] TrialStatus require_status(const std::string& text, const std::string& path);

/// Calls `use` for every trial in the order of the keys, with worlds, scores and series as they were put.
/// Throws   InvalidArgument if a trial is not what was put, or rows belong to none.
void for_each_trial(const DatabaseConnection& connection,
                    const std::function<void(const TrialResult&)>& use);

}  // namespace sfumato::lab
