#include "sfumato/risk/observation.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/risk/make_observation.hpp"
#include "sfumato/sde/precise/training.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

bool differ(const Covariance& p, const Covariance& q) { return dense(p) != dense(q); }

/// From one minimiser to the other: given points are subtracted, others may be closer to each other
/// than their rounding.
VectorXd shift_of(const QuadraticLoss& d, const QuadraticLoss& d_prime, const Minimum& x,
                  const Minimum& x_prime) {
  const bool given = d.given_point && d_prime.given_point;
  if (!given && x.unique && x_prime.unique && x.point->size() <= kLargestWide) {
    if (const auto shift = minimiser_shift_precisely(training_of(d), training_of(d_prime))) {
      return *shift;
    }
  }
  return *x_prime.point - *x.point;
}

}  // namespace

void set_distributions(Observation& observation, const WhitenedPair& pair, bool equal_covariances) {
  observation.mutually_singular = pair.mutually_singular;
  observation.used_rank_tolerance = pair.used_rank_tolerance;
  if (equal_covariances) {
    observation.mu =
        Claimed<double>{pair.mutually_singular ? kInf : pair.shift.matrix().norm(), Claim::exact,
                        "equal covariances: this pair is exactly mu-GDP"};
  }
  observation.risk = Risk::exact(pair);
}

TrainingDifferences differences_of_releases(const Pair<QuadraticTraining>& pair) {
  const QuadraticLoss& d = pair.d.loss;
  const QuadraticLoss& d_prime = pair.d_prime.loss;
  TrainingDifferences found;
  found.curvature = d.curvature != d_prime.curvature;
  const Minimum x = minimum(d);
  const Minimum x_prime = minimum(d_prime);
  found.location = x.point && x_prime.point ? *x.point != *x_prime.point : d.pull != d_prime.pull;
  return found;
}

TrainingDifferences differences_of_trainings(const Pair<QuadraticTraining>& pair) {
  TrainingDifferences found = differences_of_releases(pair);
  found.noise = differ(pair.d.noise, pair.d_prime.noise);
  found.start_mean = pair.d.start.mean != pair.d_prime.start.mean;
  found.start_covariance = differ(pair.d.start.covariance, pair.d_prime.start.covariance);
  return found;
}

std::string joined_reasons(const std::string& d, const std::string& d_prime) {
  if (d == d_prime) return "D and D': " + d;
  if (d_prime.empty()) return "D: " + d;
  if (d.empty()) return "D': " + d_prime;
  return fmt::format("D: {}; D': {}", d, d_prime);
}

Observation observe_release(const Pair<QuadraticTraining>& pair) {
  const Minimum x = minimum(pair.d.loss);
  const Minimum x_prime = minimum(pair.d_prime.loss);
  if (!x.point || !x_prime.point) {
    throw InvalidArgument(
        "there is no minimiser to release: " + joined_reasons(x.reason, x_prime.reason),
        "Give a loss with a minimum, or a [flow]");
  }
  const auto accuracy = [](const QuadraticTraining& training) {
    const double loss = 0.5 * multiply(training.noise, training.loss.curvature).trace();
    const auto exact = [](double value) {
      return Known<Claimed<double>>{
          Claimed<double>{value, Claim::exact, "variance of the added noise, closed form"}, {}};
    };
    return Accuracy{exact(trace(training.noise)), exact(loss)};
  };
  Observation observation{0.0, map(pair, accuracy)};
  set_distributions(
      observation,
      whiten(VectorXd::Zero(pair.d.dimension()), pair.d.noise,
             shift_of(pair.d.loss, pair.d_prime.loss, x, x_prime), pair.d_prime.noise),
      /*equal_covariances=*/true);
  return observation;
}

}  // namespace sfumato
