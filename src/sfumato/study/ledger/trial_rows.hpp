#pragma once

#include <functional>

#include "sfumato/study/ledger/connection.hpp"
#include "sfumato/study/ledger/content_digest.hpp"
#include "sfumato/study/ledger/trial.hpp"

namespace sfumato {

/// Writes trials as rows of the tables trial, world, score and series, in the caller's transaction.
class TrialWriter {
 public:
  explicit TrialWriter(const LedgerConnection& connection);
  /// Throws   InternalError if it is there already.
  void put(const TrialResult& trial);
  /// Of what was put.
  [[nodiscard]] const ContentDigest& content() const { return content_; }

 private:
  void put_world(const TrialKey& key, std::int64_t number, const WorldResult& world);

  const LedgerConnection& connection_;
  Query exists_, trial_, world_, score_, series_;
  ContentDigest content_;
};

/// Throws   InvalidArgument if no status has this name.
[[nodiscard]] TrialStatus require_status(const std::string& text, const std::string& path);

/// Calls `use` for every trial in the order of the keys, with worlds, scores and series as they were put.
/// Throws   InvalidArgument if a trial is not what was put, or rows belong to none.
void for_each_trial(const LedgerConnection& connection,
                    const std::function<void(const TrialResult&)>& use);

}  // namespace sfumato
