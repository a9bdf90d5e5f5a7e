#include "sfumato/answers/bound/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/answers/bound/estimates.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/ou_pair.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool is_proven(const KlBound& bound) {
  return bound.kl.claim == Claim::exact || bound.kl.claim == Claim::upper_bound;
}

void add_risks(const SdePair& pair, BoundsAtTime& at) {
  if (pair.linear) {
    try {
      at.exact = Risk::exact(laws_at(*pair.linear, at.time));
    } catch (const NumericalFailure&) {
      // The row "exact" says why there is no law at this time.
    }
  }
  const Claimed<Nats> forward = best_proven(at.methods, &PairBound::forward);
  const Claimed<Nats> reverse = best_proven(at.methods, &PairBound::reverse);
  if (forward.value.value() == kInf && reverse.value.value() == kInf) return;
  std::vector<Risk> known = {Risk::from_kl(forward, reverse)};
  const Known<GdpBound> gdp = gdp_bound(pair, at.time);
  if (gdp.value && std::isfinite(gdp.value->mu.value)) {
    known.push_back(Risk::from_gdp(gdp.value->mu));
  }
  at.proven = Risk::best_of(known);
}

/// Estimates come after the exact value and before the proven bounds.
void insert_estimates(std::vector<PairBound> estimates, std::vector<PairBound>& methods) {
  const auto place = std::find_if(methods.begin(), methods.end(),
                                  [](const PairBound& m) { return m.key != "exact"; });
  methods.insert(place, std::make_move_iterator(estimates.begin()),
                 std::make_move_iterator(estimates.end()));
}

}  // namespace

Claimed<Nats> best_proven(const std::vector<PairBound>& methods, KlBound PairBound::*direction) {
  Claimed<Nats> best{Nats{kInf}, Claim::upper_bound, "no proven bound"};
  for (const PairBound& method : methods) {
    const KlBound& bound = method.*direction;
    if (method.printed || !is_proven(bound) || method.key == "exact") continue;
    if (bound.kl.value < best.value) best = bound.kl;
  }
  return best;
}

bool grid_is_above(const BoundsAtTime& at) {
  if (!at.proven) return false;
  const auto above = [&](const KlBound& grid, Direction direction) {
    return grid.kl.value.value() > at.proven->kl(direction).value.value() * 1.01 + 1e-6;
  };
  return std::any_of(at.methods.begin(), at.methods.end(), [&](const PairBound& method) {
    return method.key == "fokker_planck" && method.forward.reason.empty() &&
           (above(method.forward, Direction::forward) || above(method.reverse, Direction::reverse));
  });
}

std::vector<BoundsAtTime> evaluate_bounds(const BoundProblem& problem, Observer& observer) {
  std::vector<BoundsAtTime> result;
  std::vector<double> finite;
  for (std::size_t i = 0; i < problem.times.size() && !observer.stop_requested(); ++i) {
    observer.progress("closed forms", i, problem.times.size());
    const double time = problem.times[i];
    result.push_back({time, closed_form_bounds(problem.pair, time), {}, {}, {}});
    add_risks(problem.pair, result.back());
    if (time < kInf) {
      finite.push_back(time);
    } else if (!problem.pair.linear) {
      const KlBound none = no_bound("estimates", "grids and simulation stop at finite times");
      insert_estimates({{"estimates", "grid, simulation", none, none}}, result.back().methods);
    }
  }
  if (finite.empty() || observer.stop_requested()) return result;
  Estimates estimates = estimate_pair(problem, finite, observer);
  for (std::size_t i = 0; i < finite.size(); ++i) {
    // Densities that the grid does not resolve say nothing about an attacker either.
    const bool resolved = std::none_of(
        estimates.methods[i].begin(), estimates.methods[i].end(), [](const PairBound& m) {
          return m.key == "fokker_planck" &&
                 !(m.forward.reason.empty() && m.reverse.reason.empty());
        });
    insert_estimates(std::move(estimates.methods[i]), result[i].methods);
    if (resolved && i < estimates.grid.size()) result[i].grid = std::move(estimates.grid[i]);
  }
  return result;
}

}  // namespace sfumato
