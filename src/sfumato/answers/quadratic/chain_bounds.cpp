#include "sfumato/answers/quadratic/chain_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sfumato/answers/quadratic/tables.hpp"
#include "sfumato/divergence/linear_chain.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

LinearChainPair pair_of(const QuadraticProblem& problem) {
  const double rate = problem.chain()->learning_rate;
  const auto chain = [&](const DataSet& data) {
    return LinearChain{data.loss.curvature, data.loss.pull, rate, data.noise, data.loss.given};
  };
  return {chain(problem.d), problem.d.start, chain(problem.d_prime), problem.d_prime.start};
}

Cell bound_cell(const KlBound& bound) {
  if (!bound.reason.empty()) return Empty{bound.reason};
  return bound.kl;
}

const char* const kNoisesDiffer = "the noises of a step differ";
const char* const kSingular = "the noise of a step is singular";

/// Why the two chains have no common metric of the noise; nullptr if they have.
const char* no_metric(const LinearChainPair& pair) {
  if (!same_matrix(pair.p.step_noise, pair.q.step_noise)) return kNoisesDiffer;
  return is_definite(pair.p.step_noise) ? nullptr : kSingular;
}

/// The Lipschitz constant of the second step.
double lipschitz_of(const LinearChainPair& pair) {
  return linear_step_lipschitz(pair.q.curvature, pair.q.learning_rate, pair.p.step_noise);
}

Cell lipschitz_cell(const LinearChainPair& pair) {
  if (const char* reason = no_metric(pair)) return Empty{reason};
  return lipschitz_of(pair);
}

/// The sensitivity and the contraction of two steps that differ by a constant, or why there is
/// none.
struct UniformGap {
  std::string reason;  ///< empty when the rest is meant
  double sensitivity = 0.0;
  double lipschitz = 1.0;
};

UniformGap uniform_gap(const LinearChainPair& pair) {
  if (pair.p.curvature != pair.q.curvature) {
    return {"A and A' differ, so the steps differ by more the farther out one is"};
  }
  if (const char* reason = no_metric(pair)) return {reason};
  if (!same_law(pair.start_p, pair.start_q)) return {"the starts differ"};
  const VectorXd gap = pair.p.learning_rate * (pair.p.pull - pair.q.pull);
  const double square = gap.dot(solve(pair.p.step_noise, gap).col(0));
  return {"", std::sqrt(std::max(square, 0.0)), lipschitz_of(pair)};
}

Cell mu_cell(const UniformGap& gap, double steps) {
  if (!gap.reason.empty()) return Empty{gap.reason};
  const Claimed<double> mu = noisy_gd_gdp(gap.sensitivity, gap.lipschitz, steps).mu;
  if (std::isinf(mu.value)) return Empty{"the step does not contract: mu grows without bound"};
  return mu;
}

}  // namespace

Table chain_bounds_table(const QuadraticProblem& problem,
                         const std::vector<Observation>& observations) {
  Table table("chain_bounds",
              "Bounds on the KL of the last iterate, beside the exact one; c is the Lipschitz "
              "constant of the second step in the metric of the noise",
              {label_column(problem),
               {"direction", "direction"},
               {"kl", "KL", "nats"},
               {"contractive", "contractive", "nats"},
               {"lipschitz", "c"},
               {"path", "whole path", "nats"},
               {"mu", "mu"}},
              2);
  const LinearChainPair forward = pair_of(problem);
  const LinearChainPair reverse = swapped(forward);
  const bool rounded = difference_is_rounded(
      {forward.p.curvature, forward.p.pull, forward.p.step_noise, forward.p.given},
      {forward.q.curvature, forward.q.pull, forward.q.step_noise, forward.q.given});
  const UniformGap gap = uniform_gap(forward);
  const Cell lipschitz[] = {lipschitz_cell(forward), lipschitz_cell(reverse)};
  for (const Observation& observation : observations) {
    const double steps = std::get<double>(observation.label.content());
    for (const Direction direction : kDirections) {
      const bool first = direction == Direction::forward;
      const LinearChainPair& pair = first ? forward : reverse;
      if (rounded) {
        const Cell none = Empty{kRoundedDifference};
        table.add_row(
            {observation.label, name(direction),
             observation.risk ? Cell(observation.risk->kl(direction)) : Empty{observation.reason},
             none, lipschitz[first ? 0 : 1], none, none});
        continue;
      }
      table.add_row(
          {observation.label, name(direction),
           observation.risk ? Cell(observation.risk->kl(direction)) : Empty{observation.reason},
           bound_cell(best_contractive_bound(pair, steps).bound), lipschitz[first ? 0 : 1],
           bound_cell(path_kl(pair, steps)), mu_cell(gap, steps)});
    }
  }
  return table;
}

}  // namespace sfumato
