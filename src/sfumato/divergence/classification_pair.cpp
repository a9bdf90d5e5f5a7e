#include "sfumato/divergence/classification_pair.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "sfumato/core/check.hpp"
#include "sfumato/divergence/logistic_pair.hpp"
#include "sfumato/divergence/stationary_pair.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

constexpr double kUp = 1.0 + 1e-14;  // rounding of the few sums and products below
// Shells cost O(K p^3) with K about 15: some ten seconds here, and nobody can stop them.
constexpr Eigen::Index kMostForShells = 500;

}  // namespace

PairConstants classification_constants(const ClassificationFit& fit, const GradientGap& gap,
                                       const Convexity& neighbour, double variance,
                                       const GaussianDistribution& start) {
  const Convexity& own = fit.convexity();
  const double distance =
      ((own.minimiser - neighbour.minimiser).norm() + own.distance + neighbour.distance) * kUp;
  const HessianBounds hessian{own.kappa, own.lipschitz};
  const HessianBounds hessian_prime{neighbour.kappa, neighbour.lipschitz};
  const Eigen::Index dimension = own.minimiser.size();
  // The true minimisers are within `distance` of the computed ones.
  const auto start_distance = [&](const Convexity& fitted) {
    return mean_squared_distance(start, fitted.minimiser, fitted.distance) * kUp;
  };
  return {
      {hessian, hessian_prime, variance, variance, dimension, distance, start_distance(own),
       gap.at_minimiser, gap.lipschitz},
      {hessian_prime, hessian, variance, variance, dimension, distance, start_distance(neighbour),
       (gap.at_minimiser + gap.lipschitz * distance) * kUp, gap.lipschitz},
      smoothness(start)};
}

Known<Claimed<double>> classification_sensitivity(const GradientGap& gap, const Covariance& noise) {
  const double least = std::holds_alternative<Isotropic>(noise)
                           ? std::get<Isotropic>(noise).variance
                           : spectrum_of(dense(noise)).values.minCoeff() * (1.0 - 1e-12);
  if (!(least > 0.0)) return {{}, "needs noise in every direction"};
  return {Claimed<double>{gap.everywhere / std::sqrt(least) * kUp, Claim::upper_bound,
                          "a row's gradient is bounded by its features"},
          {}};
}

SdePair classification_pair(const ClassificationFit& fit, const Neighbour& neighbour,
                            const Covariance& noise, const GaussianDistribution& start) {
  require_size("start", start.mean.size(), fit.problem().parameters());
  const std::array<Neighbour, 1> one = {neighbour};
  const Convexity other = fit.neighbours(one).front();
  const GradientGap gap = fit.gap(neighbour);
  SdePair pair{
      {classification_diffusion(std::make_shared<ClassificationProblem>(fit.problem()), noise),
       start},
      {classification_diffusion(std::make_shared<ClassificationProblem>(
                                    fit.problem().neighbour(neighbour.row, neighbour.replacement)),
                                noise),
       start}};
  pair.sensitivity = classification_sensitivity(gap, noise);
  if (const auto variance = isotropic_variance(noise)) {
    pair.constants.value = classification_constants(fit, gap, other, *variance, start);
    if (fit.problem().parameters() > kMostForShells) {
      pair.stationary.reason =
          fmt::format("takes too long with more than {} parameters", kMostForShells);
    } else if (fit.convexity().kappa > 0.0 && other.kappa > 0.0) {
      const Observer quiet;
      const std::array<Eigen::Index, 1> row = {neighbour.row};
      const StationaryBound bound =
          StationaryPairs(fit, *variance, neighbour.replacement, quiet).bounds(row, quiet).front();
      pair.stationary.value = {bound.forward, bound.reverse};
    }
  } else {
    pair.constants.reason = "needs isotropic noise (Sigma = sigma^2 I)";
  }
  return pair;
}

SdePair unequal_classification_pair(const ClassificationFit& fit, const Neighbour& neighbour,
                                    const Covariance& noise, const Covariance& noise_prime,
                                    const GaussianDistribution& start) {
  require_size("start", start.mean.size(), fit.problem().parameters());
  const auto own = std::make_shared<const ClassificationProblem>(fit.problem());
  const auto other = std::make_shared<const ClassificationProblem>(
      fit.problem().neighbour(neighbour.row, neighbour.replacement));
  SdePair pair{{classification_diffusion(own, noise), start},
               {classification_diffusion(other, noise_prime), start}};
  pair.sensitivity = {{}, "needs equal noise"};
  pair.constants = {{}, "needs equal noise"};
  pair.stationary = {{}, "needs equal noise"};
  if (own->is_softmax()) return pair;
  const LogisticFlow p{own, noise}, q{other, noise_prime};
  std::vector<LogisticRecord> records = {{own->record(neighbour.row).features, true}};
  if (neighbour.replacement) records.push_back({neighbour.replacement->features, false});
  pair.model_bounds = [p, q, records, start](double time) -> std::array<KlBound, 2> {
    std::vector<LogisticRecord> back = records;
    for (LogisticRecord& record : back) record.in_first = !record.in_first;
    return {logistic_constants_bound(p, q, records, start, time),
            logistic_constants_bound(q, p, back, start, time)};
  };
  return pair;
}

}  // namespace sfumato
