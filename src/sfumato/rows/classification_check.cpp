#include "sfumato/rows/classification_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/divergence/path_estimate.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/random/stream.hpp"
#include "sfumato/risk/chain_convexity.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"
#include "sfumato/sde/chain_distribution.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRelaxations = 5.0;
constexpr std::uint64_t kFewestPaths = 16;

/// A flow or a chain in the same words: paths of step `step` until `end`.
struct Run {
  std::optional<double> learning_rate;  ///< of a chain
  double end;                           ///< training time, +inf for the stationary distribution
  Covariance noise;
  GaussianDistribution start;
};

/// One side of the pair: its loss and where its minimiser is.
struct Side {
  std::shared_ptr<const ClassificationProblem> problem;
  VectorXd minimiser;
};

/// How the first distribution is simulated.
struct Plan {
  GaussianDistribution start;
  double end;
  double step;
};

/// Extreme eigenvalues of a Hessian.
std::pair<double, double> extremes(const MatrixXd& hessian) {
  const VectorXd values = SymmetricEigen(hessian, SymmetricEigen::Want::values).eigenvalues();
  return {values(0), values(values.size() - 1)};
}

/// The stationary distribution of the quadratic approximation at the minimiser, and steps that are short for
/// the curvature found at a few of its points.
Plan stationary_plan(const Side& side, const Run& run, std::uint64_t seed) {
  const MatrixXd hessian = side.problem->hessian(side.minimiser);
  const VectorXd pull = hessian * side.minimiser;
  const GaussianDistribution origin = point_distribution(side.minimiser);
  auto [least, largest] = extremes(hessian);
  if (run.learning_rate) {
    const double eta = *run.learning_rate;
    return {ChainDistribution({hessian, pull, eta, scaled(run.noise, eta)}, origin).at(kInf),
            eta * std::ceil(kRelaxations / (eta * least)), eta};
  }
  const GaussianDistribution distribution =
      OuDistribution({hessian, pull, run.noise}, origin).at(kInf);
  const MatrixXd spread = root(distribution.covariance);
  const Stream stream(StreamKey(seed, Purpose::initialisation, {1}));
  for (std::uint64_t draw = 0; draw < 8; ++draw) {
    VectorXd normals(spread.cols());
    stream.fill_normal(draw, 0, {normals.data(), static_cast<std::size_t>(normals.size())});
    largest = std::max(
        largest, extremes(side.problem->hessian(distribution.mean + spread * normals)).second);
  }
  return {distribution, kRelaxations / least, 0.25 / largest};
}

Plan plan_of(const Side& side, const Run& run, double lipschitz, std::uint64_t seed) {
  if (run.end == kInf) return stationary_plan(side, run, seed);
  // Fifty steps at least: the paths have not gone far, and each step changes their gradients.
  const double step = run.end > 0.0 ? std::min(0.5 / lipschitz, run.end / 50.0) : 0.5 / lipschitz;
  return {run.start, run.end, run.learning_rate.value_or(step)};
}

/// The bound on the KL of p from q that one direction's paths estimate.
MonteCarloMean directed(const Side& p, const Side& q, const Run& run, const HessianBounds& bounds,
                        const Plan& plan, const RowCheckOptions& check, RowCheck& result,
                        Observer& observer) {
  PathEstimateOptions options;
  options.simulation = {result.paths, {check.seed, 0}, check.threads};
  options.halve = false;
  const double eta = run.learning_rate.value_or(0.0);
  const double c = run.learning_rate ? proven_step_lipschitz(bounds, eta, run.noise) : 0.0;
  const double rate = run.learning_rate
                          ? (c < 1.0 ? -std::log(c) / eta : 0.0)
                          : hessian_contraction(bounds.kappa, bounds.lipschitz, run.noise);
  const bool contracts = rate > 0.0;
  if (run.end < kInf && contracts) options.kappas.push_back(rate);
  const PathEstimate estimate =
      path_estimate(classification_diffusion(p.problem, run.noise),
                    classification_diffusion(q.problem, run.noise), plan.start,
                    {{plan.end}, plan.step}, options, observer)
          .value;
  result.paths = estimate.paths;
  const auto times = [](const MonteCarloMean& mean, double factor) {
    return MonteCarloMean{factor * mean.value, factor * mean.standard_error};
  };
  const MonteCarloMean path = estimate.bounds.front().at_step;
  if (run.end == kInf) {  // the path bound is half the integral of D
    const double memory = run.learning_rate ? eta * (1.0 + c) / (2.0 * (1.0 - c)) : 1.0 / rate;
    return times(path, 2.0 / plan.end * memory);
  }
  if (!contracts) return path;
  // The chain's weights in Spec §8.3 are those of the flow's e^{-rate eta} = c times (1 + c)/(2 c).
  const MonteCarloMean contractive =
      times(estimate.bounds.back().at_step, run.learning_rate ? (1.0 + c) / (2.0 * c) : 1.0);
  return contractive.value < path.value ? contractive : path;
}

std::optional<Run> run_of(const Release& release) {
  return std::visit(
      Overloaded{[](const FlowRelease& flow) {
                   return std::optional<Run>({{}, flow.time, flow.noise, flow.start});
                 },
                 [](const ChainRelease& chain) {
                   const double end = chain.steps == 0.0 ? 0.0 : chain.steps * chain.learning_rate;
                   return std::optional<Run>({chain.learning_rate, end, chain.noise, chain.start});
                 },
                 [](const MinimiserRelease&) { return std::optional<Run>(); }},
      release);
}

}  // namespace

RowCheck check_row(const ClassificationFit& fit, Index row, const RowRiskOptions& options,
                   const RowCheckOptions& check, Observer& observer) {
  RowCheck result;
  const std::optional<Run> run = run_of(options.release);
  if (!run) {
    result.reason = "there are no paths: the minimiser itself is released";
    return result;
  }
  const std::array<Neighbour, 1> one = {Neighbour{row, options.replacement}};
  Convexity other;
  try {
    other = fit.neighbours(one).front();
  } catch (const NumericalFailure&) {
    result.reason = "without this row the loss has no minimiser";
    return result;
  }
  const HessianBounds bounds = common_bounds(fit.convexity(), other);
  const Side table{std::make_shared<ClassificationProblem>(fit.problem()),
                   fit.convexity().minimiser};
  const Side neighbour{
      std::make_shared<ClassificationProblem>(fit.problem().neighbour(row, options.replacement)),
      other.minimiser};
  const Plan forward = plan_of(table, *run, bounds.lipschitz, check.seed);
  const Plan reverse = plan_of(neighbour, *run, bounds.lipschitz, check.seed);
  result.stationary = run->end == kInf;
  result.horizon = std::max(forward.end, reverse.end);
  const double steps = std::ceil(result.horizon / std::min(forward.step, reverse.step));
  // Two gradients in each step, each with products for the scores and for the sum over the rows.
  const double each =
      4.0 * steps *
      static_cast<double>(fit.problem().rows() * (fit.problem().features().cols() + 8));
  const double paths = std::min(static_cast<double>(check.paths), check.work / each);
  result.steps = static_cast<std::uint64_t>(std::min(steps, 1e15));
  if (!(paths >= static_cast<double>(kFewestPaths))) {
    result.reason =
        fmt::format("paths of {:.2g} steps over the whole table would take too long", steps);
    return result;
  }
  result.paths = static_cast<std::uint64_t>(paths);
  result.forward = directed(table, neighbour, *run, bounds, forward, check, result, observer);
  if (!observer.stop_requested()) {
    result.reverse = directed(neighbour, table, *run, bounds, reverse, check, result, observer);
  }
  if (observer.stop_requested()) {
    result.paths = 0;
    result.reason = "stopped";
    return result;
  }
  for (const MonteCarloMean& mean : {result.forward, result.reverse}) {
    if (std::isfinite(mean.value) && std::isfinite(mean.standard_error)) continue;
    result.paths = 0;
    result.reason = "the simulated paths or their squares leave the range of numbers";
  }
  return result;
}

}  // namespace sfumato
