#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/rows/fitted_rows.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Passes progress on under another name, so that rows that are computed again are not taken for the first time. Records are
/// left to the computation that the answer shows.
class StageObserver final : public Observer {
 public:
  StageObserver(Observer& next, std::string stage) : next_(next), stage_(std::move(stage)) {}

  void progress(std::string_view, std::uint64_t done, std::uint64_t total) override {
    next_.progress(stage_, done, total);
  }
  [[nodiscard]] bool stop_requested() const override { return next_.stop_requested(); }

 private:
  Observer& next_;
  std::string stage_;
};

/// Risks at one noise, and what they are made of.
struct RisksAtNoise {
  std::vector<RowRisk> risks;
  std::vector<std::string> notes;
};

/// The worst, the 99 % quantile and the median of the risks, and the cost of the release.
[[nodiscard]] NoisePoint noise_point(double noise, const std::vector<RowRisk>& risks,
                                     std::optional<ReleaseCost> cost);

/// What the risks are at unlimited noise: computed at 2^100 times the noise of the options, where what noise hides
/// is below the digits of a double. Empty where nothing remains.
[[nodiscard]] std::vector<RowRisk> risks_at_unlimited_noise(const FittedRows& model,
                                                            const RowRiskOptions& options,
                                                            Observer& observer);

/// The worst of them; 0 if there are none.
[[nodiscard]] RiskFloor floor_of(const std::vector<RowRisk>& unlimited);

/// What a search found.
struct FoundNoise {
  NoiseSearch search;                   ///< `noise` as a multiple of that of the options
  std::optional<RiskFloor> floor = {};  ///< none if the search was stopped before
  RisksAtNoise at = {};  ///< at the noise that was found, or at unlimited noise if none was
};

/// The least multiple of the noise of the options, to four digits, at which every row is within the goal. Few rows
/// decide: the search is among those that are worst, and every row is computed at what it found, until none is above
/// the goal. So what is returned holds for every row; that no smaller noise would do is as true as that risks fall with
/// the noise.
///
/// Stops    when the observer asks: the result has not reached the goal then.
[[nodiscard]] FoundNoise find_noise(const FittedRows& model, const RowRiskOptions& options,
                                    const RowsGoal& goal, Observer& observer);

}  // namespace sfumato
