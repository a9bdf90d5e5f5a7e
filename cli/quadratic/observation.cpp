#include "quadratic/observation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato::cli {
namespace {

using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr const char* kMoments = "Ornstein-Uhlenbeck moments, closed form";

OuProcess process_of(const DataSet& data) {
  return {data.loss.curvature, data.loss.pull, data.noise};
}

bool is_zero(const Covariance& covariance) { return trace(covariance) == 0.0; }

bool differ(const Covariance& p, const Covariance& q) { return dense(p) != dense(q); }

void add_pair(const WhitenedPair& pair, bool equal_covariances, Observation& observation) {
  observation.mutually_singular = pair.mutually_singular;
  observation.used_rank_tolerance = pair.used_rank_tolerance;
  if (equal_covariances) {
    observation.mu = pair.mutually_singular ? kInf : pair.shift.matrix().norm();
  }
  observation.risk = Risk::exact(pair);
}

/// Reasons of D and D', said once when they are the same.
std::string joined(const std::string& d, const std::string& d_prime) {
  if (d == d_prime) return "D and D': " + d;
  if (d_prime.empty()) return "D: " + d;
  if (d.empty()) return "D': " + d_prime;
  return fmt::format("D: {}; D': {}", d, d_prime);
}

}  // namespace

Differences differences(const QuadraticProblem& problem) {
  const DataSet& d = problem.d;
  const DataSet& d_prime = problem.d_prime;
  Differences found;
  found.curvature = d.loss.curvature != d_prime.loss.curvature;
  const Minimum x = minimum(d.loss);
  const Minimum x_prime = minimum(d_prime.loss);
  found.location =
      x.point && x_prime.point ? *x.point != *x_prime.point : d.loss.pull != d_prime.loss.pull;
  if (!std::holds_alternative<Flow>(problem.output)) return found;
  found.noise = differ(d.noise, d_prime.noise);
  found.start_mean = d.start.mean != d_prime.start.mean;
  found.start_covariance = differ(d.start.covariance, d_prime.start.covariance);
  return found;
}

FlowPair::Side::Side(const DataSet& data)
    : law(process_of(data), data.start),
      noise_alone({data.loss.curvature, VectorXd::Zero(data.loss.pull.size()), data.noise},
                  point_law(VectorXd::Zero(data.loss.pull.size()))),
      minimum(sfumato::minimum(data.loss)),
      starts_at_a_point(is_zero(data.start.covariance)) {}

Accuracy FlowPair::Side::accuracy(double time) const {
  if (!minimum.point) return {Empty{minimum.reason}, Empty{minimum.reason}};
  Accuracy accuracy{Claimed<double>{law.error(time, *minimum.point), Claim::exact, kMoments},
                    Empty{"the loss has no minimum"}};
  if (const auto excess = law.excess_loss(time)) {
    accuracy.excess_loss = Claimed<double>{*excess, Claim::exact, kMoments};
  }
  return accuracy;
}

FlowPair::FlowPair(const QuadraticProblem& problem)
    : d_(problem.d), d_prime_(problem.d_prime), differences_(differences(problem)) {}

std::pair<std::optional<WhitenedPair>, std::string> FlowPair::pair_at(double time) const {
  if (time == kInf) {
    const std::string reason = d_.law.long_run().reason;
    const std::string reason_prime = d_prime_.law.long_run().reason;
    if (!reason.empty() || !reason_prime.empty()) {
      return {std::nullopt, joined(reason, reason_prime)};
    }
  }
  try {
    return {whiten_at(d_.law, d_prime_.law, time), ""};
  } catch (const NumericalFailure& failure) {  // the law overflows: the other times still count
    return {std::nullopt, failure.what()};
  }
}

Observation FlowPair::at(double time) const {
  Observation observation{
      time, {}, {}, false, false, {}, {}, {}, d_.accuracy(time), d_prime_.accuracy(time)};
  const auto [pair, reason] = pair_at(time);
  observation.reason = reason;
  if (pair) add_pair(*pair, differences_.equal_covariances(), observation);
  if (differences_.curvature || differences_.noise) add_floor(time, observation);
  return observation;
}

/// Spec §5, noise floor: with Sigma -> c Sigma the noise outgrows the start and the difference of
/// the means, so that the covariances which the noise alone makes are what remains.
void FlowPair::add_floor(double time, Observation& observation) const {
  if (time == 0.0) {
    observation.floor_reason = "no noise has acted at t = 0";
    return;
  }
  if (!observation.risk) {
    observation.floor_reason = observation.reason;
    return;
  }
  const WhitenedPair pair = whiten_at(d_.noise_alone, d_prime_.noise_alone, time);
  const bool full_rank = pair.ratio.size() == d_.law.dimension();
  // Where noise does not reach every direction, the start matters however large the noise is.
  if (!full_rank && !(d_.starts_at_a_point && d_prime_.starts_at_a_point)) {
    observation.floor_reason = "noise does not reach every direction, where the start decides";
    return;
  }
  observation.floor = Risk::exact(pair);
}

std::pair<double, double> FlowPair::rates() const {
  double slowest = kInf;
  double fastest = 0.0;
  for (const Side* side : {&d_, &d_prime_}) {
    for (const double rate : side->law.spectrum().values) {
      if (rate == 0.0) continue;
      slowest = std::min(slowest, std::abs(rate));
      fastest = std::max(fastest, std::abs(rate));
    }
  }
  return {slowest, fastest};
}

Observation observe_release(const QuadraticProblem& problem) {
  const Minimum x = minimum(problem.d.loss);
  const Minimum x_prime = minimum(problem.d_prime.loss);
  if (!x.point || !x_prime.point) {
    throw InvalidArgument("there is no minimiser to release: " + joined(x.reason, x_prime.reason),
                          "Give a loss with a minimum, or a [flow]", Where::in(problem.source));
  }
  const auto accuracy = [&](const DataSet& data) {
    const double loss = 0.5 * multiply(data.noise, data.loss.curvature).trace();
    const char* method = "variance of the added noise, closed form";
    return Accuracy{Claimed<double>{trace(data.noise), Claim::exact, method},
                    Claimed<double>{loss, Claim::exact, method}};
  };
  Observation observation{
      "x* + N(0, S)",           {}, {}, false, false, {}, {}, {}, accuracy(problem.d),
      accuracy(problem.d_prime)};
  add_pair(whiten(*x.point, problem.d.noise, *x_prime.point, problem.d_prime.noise),
           /*equal_covariances=*/true, observation);
  return observation;
}

}  // namespace sfumato::cli
