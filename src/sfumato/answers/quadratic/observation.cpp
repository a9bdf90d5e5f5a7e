#include "sfumato/answers/quadratic/observation.hpp"

#include <fmt/format.h>

#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

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

void Observation::set_laws(const WhitenedPair& pair, bool equal_covariances) {
  mutually_singular = pair.mutually_singular;
  used_rank_tolerance = pair.used_rank_tolerance;
  if (equal_covariances) mu = pair.mutually_singular ? kInf : pair.shift.matrix().norm();
  risk = Risk::exact(pair);
}

Differences differences(const QuadraticProblem& problem) {
  const DataSet& d = problem.d;
  const DataSet& d_prime = problem.d_prime;
  Differences found;
  found.curvature = d.loss.curvature != d_prime.loss.curvature;
  const Minimum x = minimum(d.loss);
  const Minimum x_prime = minimum(d_prime.loss);
  found.location =
      x.point && x_prime.point ? *x.point != *x_prime.point : d.loss.pull != d_prime.loss.pull;
  if (problem.is_release()) return found;
  found.noise = differ(d.noise, d_prime.noise);
  found.start_mean = d.start.mean != d_prime.start.mean;
  found.start_covariance = differ(d.start.covariance, d_prime.start.covariance);
  return found;
}

std::string joined_reasons(const std::string& d, const std::string& d_prime) {
  if (d == d_prime) return "D and D': " + d;
  if (d_prime.empty()) return "D: " + d;
  if (d.empty()) return "D': " + d_prime;
  return fmt::format("D: {}; D': {}", d, d_prime);
}

Observation observe_release(const QuadraticProblem& problem) {
  const Minimum x = minimum(problem.d.loss);
  const Minimum x_prime = minimum(problem.d_prime.loss);
  if (!x.point || !x_prime.point) {
    throw InvalidArgument(
        "there is no minimiser to release: " + joined_reasons(x.reason, x_prime.reason),
        "Give a loss with a minimum, or a [flow]", Where::in(problem.source));
  }
  const auto accuracy = [&](const DataSet& data) {
    const double loss = 0.5 * multiply(data.noise, data.loss.curvature).trace();
    const char* method = "variance of the added noise, closed form";
    return Accuracy{Claimed<double>{trace(data.noise), Claim::exact, method},
                    Claimed<double>{loss, Claim::exact, method}};
  };
  const char* name = "x* + N(0, S)";
  Observation observation{name, name, accuracy(problem.d), accuracy(problem.d_prime)};
  observation.set_laws(
      whiten(VectorXd::Zero(problem.dimension()), problem.d.noise,
             shift_of(problem.d.loss, problem.d_prime.loss, x, x_prime), problem.d_prime.noise),
      /*equal_covariances=*/true);
  return observation;
}

}  // namespace sfumato
