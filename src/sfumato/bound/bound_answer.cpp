#include "sfumato/bound/bound_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/bound/estimates.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/problem/risk_keys.hpp"
#include "sfumato/problem/sde_file.hpp"

namespace sfumato {
namespace {

void add_risks(const SdePair& pair, BoundsAtTime& at) {
  if (pair.linear) {
    try {
      at.exact = Risk::exact(distributions_at(*pair.linear, at.time));
    } catch (const NumericalFailure&) {
      // The row "exact" says why there is no distribution at this time.
    }
  }
  const Claimed<Nats> forward = best_proven_kl(at.methods, &PairBound::forward);
  const Claimed<Nats> reverse = best_proven_kl(at.methods, &PairBound::reverse);
  if (forward.value.value() == kInf && reverse.value.value() == kInf) return;
  std::vector<Risk> known = {Risk::from_kl(forward, reverse)};
  const Known<GdpBound> gdp = gdp_bound(pair, at.time);
  if (gdp.value && std::isfinite(gdp.value->mu.value)) {
    known.push_back(Risk::from_gdp(gdp.value->mu));
  }
  at.proven = Risk::best_of(known);
}

/// Estimates come after what is exact or proven.
void insert_estimates(std::vector<PairBound> estimates, std::vector<PairBound>& methods) {
  methods.insert(methods.end(), std::make_move_iterator(estimates.begin()),
                 std::make_move_iterator(estimates.end()));
}

void add_closed_forms(BoundAnswer& result, Observer& observer) {
  const SdeProblem& problem = result.question.problem;
  for (std::size_t i = 0; i < problem.times.size() && !observer.stop_requested(); ++i) {
    observer.progress("closed forms", i, problem.times.size());
    const double time = problem.times[i];
    BoundsAtTime& at = result.at.emplace_back();
    at.time = time;
    at.methods = closed_form_bounds(problem.pair, time);
    add_risks(problem.pair, at);
    if (time == kInf && !problem.pair.linear) {
      const KlBound none = no_bound("estimates", "grids and simulations need a finite time");
      insert_estimates({{BoundMethod::fokker_planck, none, none}}, at.methods);
    }
  }
}

void add_estimates(BoundAnswer& result, Observer& observer) {
  std::vector<double> finite;
  for (const BoundsAtTime& at : result.at) {
    if (at.time < kInf) finite.push_back(at.time);
  }
  if (finite.empty()) return;
  Estimates estimates = estimate_pair(result.question, finite, observer);
  for (std::size_t i = 0; i < finite.size(); ++i) {
    // Densities that the grid does not resolve say nothing about an attacker either.
    const bool resolved = std::none_of(
        estimates.methods[i].begin(), estimates.methods[i].end(), [](const PairBound& m) {
          return m.method == BoundMethod::fokker_planck &&
                 !(m.forward.reason.empty() && m.reverse.reason.empty());
        });
    insert_estimates(std::move(estimates.methods[i]), result.at[i].methods);
    if (resolved && i < estimates.grid.size()) result.at[i].grid = std::move(estimates.grid[i]);
  }
}

}  // namespace

bool has_number(const PairBound& method) {
  return method.forward.reason.empty() || method.reverse.reason.empty();
}

bool grid_is_above(const BoundsAtTime& at) {
  if (!at.proven) return false;
  const auto above = [&](const KlBound& grid, Direction direction) {
    return grid.kl.value.value() > at.proven->kl(direction).value.value() * 1.01 + 1e-6;
  };
  return std::any_of(at.methods.begin(), at.methods.end(), [&](const PairBound& method) {
    return method.method == BoundMethod::fokker_planck && method.forward.reason.empty() &&
           (above(method.forward, Direction::forward) || above(method.reverse, Direction::reverse));
  });
}

BoundAnswer answer(const BoundQuestion& question, Observer& observer) {
  require_risk(question.risk);
  require_sde_problem(question.problem);
  BoundAnswer result{question, {}};
  std::vector<double>& times = result.question.problem.times;
  std::sort(times.begin(), times.end());
  add_closed_forms(result, observer);
  if (!observer.stop_requested()) add_estimates(result, observer);
  result.stopped = observer.stop_requested();
  const bool nothing = std::none_of(result.at.begin(), result.at.end(), [](const BoundsAtTime& at) {
    return std::any_of(at.methods.begin(), at.methods.end(), has_number);
  });
  if (nothing && !result.stopped) result.verdict = Verdict::open;
  if (!question.problem.assumed.empty()) {
    for (const BoundsAtTime& at : result.at) {
      if (grid_is_above(at)) {
        result.verdict = Verdict::violated;
      } else if (at.proven && at.grid) {
        result.verdict = worst(result.verdict, Verdict::not_refuted);
      }
    }
  }
  return result;
}

}  // namespace sfumato
