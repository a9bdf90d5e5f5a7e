#include "lab/study/convex_risk.hpp"

#include <algorithm>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"

namespace sfumato::lab {
namespace {

using Eigen::VectorXd;

ProvenRisk exact_risk(const LinearLosses& losses, double step, const Covariance& step_noise,
                      double steps) {
  const auto [law, other] = chain_laws(losses, step, step_noise);
  const WhitenedPair pair = whiten_at(law, other, steps);
  // Noise in every direction leaves no law singular: a rank that is lost is lost to rounding.
  if (is_definite(step_noise) && (pair.mutually_singular || pair.used_rank_tolerance)) {
    return {{}, {}, "the variances of different directions are too unequal for double precision"};
  }
  if (too_far_apart(pair)) return {{}, {}, kTooFarApart};
  ProvenRisk proven{Risk::exact(pair), {}, ""};
  if (!pair.mutually_singular && losses.worlds[0].curvature == losses.worlds[1].curvature) {
    proven.mu = Claimed<double>{pair.shift.matrix().norm(), Claim::exact,
                                "distance of two normal distributions with one covariance"};
  }
  return proven;
}

ProvenRisk bounded_risk(const LogisticLosses& losses, double step, const Covariance& step_noise,
                        double steps) {
  if (!is_definite(step_noise)) {
    return {{}, {}, "the noise is singular: along some direction the gradients are not hidden"};
  }
  const ClassificationFit fit(losses.worlds[0]);
  const VectorXd origin = VectorXd::Zero(fit.problem().parameters());
  // The release counts noise per unit of time, one step taking `step`.
  const ChainRelease release{step, steps, scaled(step_noise, 1.0 / step), point_law(origin)};
  const NeighbourBounds bounds = neighbour_bounds(fit, losses.neighbour, release);
  ProvenRisk proven{bounds.risk, bounds.mu, ""};
  if (!proven.risk) proven.reason = "D' has no minimiser";
  return proven;
}

}  // namespace

std::array<ChainLaw, 2> chain_laws(const LinearLosses& losses, double step,
                                   const Covariance& step_noise) {
  const auto law = [&](const QuadraticLoss& loss) {
    return ChainLaw({loss.curvature, loss.pull, step, step_noise, loss.given},
                    point_law(VectorXd::Zero(loss.pull.size())));
  };
  return {law(losses.worlds[0]), law(losses.worlds[1])};
}

ProvenRisk proven_risk(const ConvexPair& pair, const Covariance& step_noise, std::uint64_t steps) {
  const auto count = static_cast<double>(steps);
  try {
    return std::visit(Overloaded{[&](const LinearLosses& losses) {
                                   return exact_risk(losses, pair.step, step_noise, count);
                                 },
                                 [&](const LogisticLosses& losses) {
                                   return bounded_risk(losses, pair.step, step_noise, count);
                                 }},
                      pair.losses);
  } catch (const NumericalFailure& failure) {
    return {{}, {}, failure.what()};
  }
}

}  // namespace sfumato::lab
