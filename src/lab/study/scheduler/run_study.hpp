#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/study/trial_runner.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

/// Others who train groups for a run: processes on this machine or elsewhere.
class Helpers {
 public:
  Helpers() = default;
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  virtual ~Helpers() = default;

  [[nodiscard]] virtual bool is_one_free() const = 0;
  /// Gives the group to one who is free.
  virtual void give(std::size_t group) = 0;
  /// Results that have arrived, without waiting.
  /// Throws   what went wrong with a helper.
  virtual std::optional<std::vector<TrialResult>> collect() = 0;
  /// Groups that were given and have not come back.
  [[nodiscard]] virtual std::size_t in_work() const = 0;
  /// Whether one has been asked to stop: the run ends.
  [[nodiscard]] virtual bool has_one_left() const = 0;
  /// How many groups they train at once.
  [[nodiscard]] virtual unsigned workers() const = 0;
};

/// Trains every trial that the ledger does not hold. Each thread takes the next group of trials that is
/// left, trains it to the end and hands over its results, which this thread commits as they come: a
/// process that dies loses the groups in flight. Helpers that are free get groups from the same list.
/// Who trains a group changes nothing in it.
///
/// Throws   as Ledger::commit() and Helpers::collect(), after the threads have ended.
RunReport run_study(const TrialRunner& runner, Ledger& ledger, unsigned threads, Observer& observer,
                    Helpers* helpers = nullptr);

}  // namespace sfumato::lab
