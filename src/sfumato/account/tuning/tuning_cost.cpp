#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/composition.hpp"
#include "sfumato/account/tuning/runs.hpp"
#include "sfumato/account/tuning/selection_bounds.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

constexpr double kUp = 1.0 + 1e-14, kDown = 1.0 - 1e-14;
constexpr double kSharpest = 60.0;  // nats of one run: beyond it a bound of tuning says nothing

/// One run, as it is asked for here.
struct Base {
  const PrivateReleases& releases;
  std::vector<TotalLoss> losses = {};  ///< of every direction
  std::vector<LossProfile> profiles = {};
  Accountant accountant;

  Base(const PrivateReleases& of, const Observer* observer)
      : releases(of), accountant(observer ? Accountant(of).watched_by(*observer) : Accountant(of)) {
    for (const StepDirection direction : directions_of(of.relation)) {
      losses.push_back(loss_of(of, direction));
      losses.back().observer = observer;
      profiles.emplace_back(losses.back());
    }
  }
  [[nodiscard]] double delta_hi(double eps) {
    double most = 0.0;
    for (LossProfile& profile : profiles) most = std::max(most, profile.delta(eps).hi());
    return most;
  }
  [[nodiscard]] double epsilon_hi(double delta) const {
    return accountant.epsilon(Delta(delta)).upper.value;
  }
  /// Of releasing `runs` of them.
  [[nodiscard]] double composed(double runs, Delta delta) const {
    PrivateReleases all = releases;
    for (PrivateRelease& release : all.list) {
      const double steps = runs * static_cast<double>(release.steps);
      if (steps > 0x1p53) return kInf;
      release.steps = static_cast<std::uint64_t>(steps);
    }
    return Accountant(all).epsilon(delta).upper.value;
  }
};

/// The least e2 in [0, log 1/gamma] found with d(e2) <= gamma (e^e2 - 1) / (1 - gamma).
double second_epsilon(Base& base, double gamma) {
  const double odds = gamma / (1.0 - gamma) * kDown;
  double low = 0.0, high = -std::log(gamma) * kUp;  // there the right side is 1
  for (int i = 0; i < 60 && high - low > 1e-13 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (base.delta_hi(middle) <= odds * std::expm1(middle) ? high : low) = middle;
  }
  return high;
}

/// Spec §30.2 at `delta`.
void add_simple(Base& base, const RunsDistribution& runs, Delta delta, TuningCost* cost) {
  const double allowed = probability_of_each(runs, delta.probability()) * kDown;
  cost->delta_base = allowed;
  cost->e1 = base.epsilon_hi(allowed);
  if (const auto* binomial = std::get_if<NegativeBinomialRuns>(&runs)) {
    cost->e2 = second_epsilon(base, binomial->gamma);
    cost->simple = (cost->e1 + (binomial->eta + 1.0) * cost->e2) * kUp;
  } else {
    cost->simple = (cost->e1 + mean_of(runs) * base.delta_hi(0.0)) * kUp;
  }
}

/// The least eps found, up to `most`, at which a bound of delta is within `allowed`.
std::optional<double> sharp_epsilon(const SharpSelectionBound& bound, double allowed, double most) {
  if (!(bound.delta_hi(most) <= allowed)) return std::nullopt;
  double low = 0.0, high = most;
  if (bound.delta_hi(0.0) <= allowed) return 0.0;
  while (high - low > 1e-9 * high) {
    const double middle = 0.5 * (low + high);
    (bound.delta_hi(middle) <= allowed ? high : low) = middle;
  }
  return high;
}

}  // namespace

TuningCost tuning_cost(const PrivateReleases& releases, const RunsDistribution& runs, Delta delta,
                       const Observer* observer) {
  require_valid(runs);
  const double allowed = delta.probability();
  if (!(allowed > 0.0 && allowed < 1.0)) {
    throw InvalidArgument(fmt::format("delta = {} is not in (0, 1)", allowed),
                          "Pass a small probability", Where::key("target_delta"));
  }
  Base base(releases, observer);
  const double mean = mean_of(runs);
  TuningCost cost{};
  cost.untuned = base.epsilon_hi(allowed);
  cost.all_runs = base.composed(std::ceil(mean * (1.0 - 1e-12)), delta);
  if (std::holds_alternative<FixedRuns>(runs)) {
    cost.simple = cost.epsilon = cost.all_runs;
    return cost;
  }
  add_simple(base, runs, delta, &cost);
  cost.epsilon = cost.simple;
  if (!(cost.simple < kSharpest)) return cost;
  const ProfileCurve curve(base.losses, {.least = 1e-3 * allowed / mean});
  const SharpSelectionBound bound(curve, runs, std::min(1e-10, 1e-4 * allowed / mean));
  cost.sharp = sharp_epsilon(bound, allowed, cost.simple);
  if (cost.sharp) {
    cost.epsilon = *cost.sharp;
    constexpr int kPoints = 24;
    for (int i = 0; i <= kPoints; ++i) {
      const double epsilon = cost.epsilon * i / kPoints;
      cost.profile.push_back({epsilon, bound.delta_hi(epsilon)});
    }
  }
  cost.attained = attained_by_selection(curve, runs, allowed);
  if (cost.attained > cost.epsilon) {
    throw InternalError("what a base attains is above what is proven of all");
  }
  return cost;
}

}  // namespace sfumato
