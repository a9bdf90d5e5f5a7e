#include "sfumato/rows/noise_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "sfumato/report/number.hpp"
#include "sfumato/rows/row_views.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

constexpr double kUnlimited = 0x1p100;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kCandidates = 64;  // of 442 to 45,000 rows the worst changed among fewer
constexpr int kToldDigits = 4;           // of the noise that is found
constexpr double kCloseEnough = 1.0001;
constexpr int kMostRounds = 10;

RiskNumber epsilon_of(const RowRisk& risk) {
  return larger(risk.forward.epsilon, risk.reverse.epsilon);
}
RiskNumber advantage_of(const RowRisk& risk) { return risk.advantage; }

/// The largest of the computed rows; 0 if there are none.
RiskNumber worst(const std::vector<RowRisk>& risks, RiskNumber (*of)(const RowRisk&)) {
  RiskNumber most{0.0, Claim::exact};
  for (const RowRisk* risk : computed(risks)) {
    const RiskNumber number = of(*risk);
    if (number.value >= most.value || std::isnan(number.value)) most = number;
  }
  return most;
}

class Search {
 public:
  Search(const FittedRows& model, const RowRiskOptions& options, const RowsGoal& goal,
         Observer& observer)
      : model_(model), options_(options), goal_(goal), observer_(observer) {}

  FoundNoise find() {
    FoundNoise found;
    found.at = risks_at(1.0, {}, "rows");
    if (const RowRisk* row = without_model(found.at.risks)) {
      found.search.reason = fmt::format(
          "row {} cannot be left out: without it there is no model, which no noise hides. Add a "
          "ridge, or raise it",
          row->row + 1);
      return found;
    }
    std::vector<RowRisk> unlimited = risks_at_unlimited_noise(model_, options_, observer_);
    if (observer_.stop_requested()) return stopped(std::move(found));
    found.floor = floor_of(unlimited);
    take_candidates(found.at.risks);
    take_candidates(unlimited);
    if (above(unlimited)) {
      found.search.reason = floor_reason(*found.floor);
      found.search.unlimited = true;
      found.at = {std::move(unlimited), {}};
      return found;
    }
    for (int round = 0; round < kMostRounds; ++round) {
      const std::optional<double> factor = least_factor();
      if (observer_.stop_requested()) return stopped(std::move(found));
      if (!factor) {
        found.search.reason = "no noise up to 2^100 times the one it began with was enough";
        return found;
      }
      found.at =
          risks_at(rounded(*factor, Rounding::up, kToldDigits), {}, "rows at the noise found");
      if (observer_.stop_requested()) return stopped(std::move(found));
      if (!above(found.at.risks)) {
        found.search.reached = true;
        found.search.noise = rounded(*factor, Rounding::up, kToldDigits);
        return found;
      }
      begin_ = *factor;
      take_candidates(found.at.risks);
    }
    found.search.reason = "the worst rows changed with the noise again and again";
    return found;
  }

 private:
  static FoundNoise stopped(FoundNoise found) {
    found.search.reason = "it was stopped before it was found";
    return found;
  }

  static const RowRisk* without_model(const std::vector<RowRisk>& risks) {
    const auto found = std::find_if(risks.begin(), risks.end(), [](const RowRisk& risk) {
      return risk.status == RowStatus::no_model;
    });
    return found == risks.end() ? nullptr : &*found;
  }

  [[nodiscard]] double measure(const RowRisk& risk) const {
    if (risk.status == RowStatus::not_computed) return 0.0;
    if (risk.status != RowStatus::ok) return kInfinity;  // too far apart for a number
    const RiskNumber number =
        goal_.measure == RowsGoal::Measure::epsilon ? epsilon_of(risk) : advantage_of(risk);
    return std::isnan(number.value) ? kInfinity : number.value;
  }

  [[nodiscard]] bool above(const std::vector<RowRisk>& risks) const {
    return std::any_of(risks.begin(), risks.end(),
                       [&](const RowRisk& risk) { return measure(risk) > goal_.most; });
  }

  RisksAtNoise risks_at(double factor, std::vector<Index> only, const std::string& stage) {
    StageObserver observer(observer_, stage);
    RowRiskOptions options = options_;
    options.release = with_noise_times(options.release, factor);
    options.only = std::move(only);
    RisksAtNoise at;
    at.risks = model_.risks(options, observer, at.notes);
    return at;
  }

  void take_candidates(const std::vector<RowRisk>& risks) {
    std::vector<const RowRisk*> rows;
    for (const RowRisk& risk : risks) rows.push_back(&risk);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kCandidates, rows.size()));
    std::partial_sort(rows.begin(), rows.begin() + count, rows.end(),
                      [&](const RowRisk* a, const RowRisk* b) {
                        return std::pair(-measure(*a), a->row) < std::pair(-measure(*b), b->row);
                      });
    for (std::ptrdiff_t i = 0; i < count; ++i)
      candidates_.insert(rows[static_cast<std::size_t>(i)]->row);
  }

  bool enough(double factor) {
    return !above(risks_at(factor, {candidates_.begin(), candidates_.end()}, "search").risks);
  }

  /// The least that is enough for the candidates; none up to kUnlimited.
  std::optional<double> least_factor() {
    double low = begin_, high = begin_;
    if (enough(begin_)) {
      do {
        high = low;
        low /= 8.0;
      } while (low > 1.0 / kUnlimited && enough(low) && !observer_.stop_requested());
    } else {
      do {
        low = high;
        high *= 8.0;
        if (high > kUnlimited) return std::nullopt;
      } while (!enough(high) && !observer_.stop_requested());
    }
    while (high / low > kCloseEnough && !observer_.stop_requested()) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      (enough(middle) ? high : low) = middle;
    }
    return high;
  }

  [[nodiscard]] std::string floor_reason(const RiskFloor& floor) const {
    const bool epsilon = goal_.measure == RowsGoal::Measure::epsilon;
    const RiskNumber& number = epsilon ? floor.epsilon : floor.advantage;
    return fmt::format(
        "floor {} {}: removing a row changes the shape of the distribution, which more noise does "
        "not hide. Raise the ridge, or release the minimiser instead of training with noise",
        epsilon ? "eps" : "advantage",
        format_claimed({number.value, number.claim, ""},
                       epsilon ? NumberStyle::general : NumberStyle::probability));
  }

  const FittedRows& model_;
  const RowRiskOptions& options_;
  const RowsGoal goal_;
  Observer& observer_;
  std::set<Index> candidates_;
  double begin_ = 1.0;
};

}  // namespace

NoisePoint noise_point(double noise, const std::vector<RowRisk>& risks,
                       std::optional<ReleaseCost> cost) {
  NoisePoint point;
  point.noise = noise;
  point.cost = std::move(cost);
  for (const RowRisk& risk : risks) {
    if (risk.status != RowStatus::ok) ++point.unknown;
  }
  if (point.unknown == risks.size()) return point;
  point.advantage = worst(risks, advantage_of);
  point.epsilon = worst(risks, epsilon_of);
  point.high_advantage = quantile(risks, advantage_of, 0.99);
  point.median_advantage = quantile(risks, advantage_of, 0.5);
  return point;
}

std::vector<RowRisk> risks_at_unlimited_noise(const FittedRows& model,
                                              const RowRiskOptions& options, Observer& observer) {
  if (!model.has_floor(options.release)) return {};
  RowRiskOptions unlimited = options;
  unlimited.release = with_noise_times(options.release, kUnlimited);
  std::vector<std::string> notes;
  StageObserver quiet(observer, "rows at unlimited noise");
  return model.risks(unlimited, quiet, notes);
}

RiskFloor floor_of(const std::vector<RowRisk>& unlimited) {
  return {worst(unlimited, advantage_of), worst(unlimited, epsilon_of)};
}

FoundNoise find_noise(const FittedRows& model, const RowRiskOptions& options, const RowsGoal& goal,
                      Observer& observer) {
  return Search(model, options, goal, observer).find();
}

}  // namespace sfumato
