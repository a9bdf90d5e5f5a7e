#include "sfumato/answers/quadratic/training_pair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/ou_pair.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The law of a training on a loss, with the noise of D or D' and any start.
OuLaw law_of(const Flow&, const DataSet& data, const QuadraticLoss& loss,
             const GaussianLaw& start) {
  return OuLaw({loss.curvature, loss.pull, data.noise, loss.given}, start);
}
ChainLaw law_of(const Chain& chain, const DataSet& data, const QuadraticLoss& loss,
                const GaussianLaw& start) {
  return ChainLaw({loss.curvature, loss.pull, chain.learning_rate, data.noise, loss.given}, start);
}

const char* moments(const OuLaw&) { return "Ornstein-Uhlenbeck moments, closed form"; }
const char* moments(const ChainLaw&) { return "moments of the chain, closed form"; }

std::string name_of(const OuLaw&, double time) { return "t = " + format_input(time); }
std::string name_of(const ChainLaw&, double steps) {
  return format_input(steps) + (steps == 1.0 ? " step" : " steps");
}

}  // namespace

template <class Law, class Kind>
TrainingPair::Sides<Law> TrainingPair::sides_of(const Kind& kind, const QuadraticProblem& problem) {
  const auto side = [&](const DataSet& data) {
    const VectorXd zero = VectorXd::Zero(problem.dimension());
    return Side<Law>{law_of(kind, data, data.loss, data.start),
                     law_of(kind, data, with_pull(data.loss, zero), point_law(zero)),
                     minimum(data.loss)};
  };
  return {side(problem.d), side(problem.d_prime)};
}

TrainingPair::AnySides TrainingPair::sides_of(const QuadraticProblem& problem) {
  if (const Chain* chain = problem.chain()) return sides_of<ChainLaw>(*chain, problem);
  return sides_of<OuLaw>(std::get<Flow>(problem.output), problem);
}

TrainingPair::TrainingPair(const QuadraticProblem& problem)
    : looks_(problem.chain() ? problem.chain()->steps : std::get<Flow>(problem.output).times),
      sides_(sides_of(problem)),
      rate_unit_(problem.chain() ? problem.chain()->learning_rate : 1.0),
      noise_everywhere_(is_definite(problem.d.noise) && is_definite(problem.d_prime.noise)),
      start_at_points_(trace(problem.d.start.covariance) == 0.0 &&
                       trace(problem.d_prime.start.covariance) == 0.0),
      differences_(differences(problem)) {}

template <class Law>
PairOrReason TrainingPair::compare(const Law& p, const Law& q, double when) const {
  if (when == kInf) {
    const std::string reason = p.long_run().reason;
    const std::string reason_prime = q.long_run().reason;
    if (!reason.empty() || !reason_prime.empty()) {
      return {std::nullopt, joined_reasons(reason, reason_prime)};
    }
  }
  try {
    WhitenedPair pair = whiten_at(p, q, when);
    // Noise in every direction leaves no law singular: a rank that is lost is lost to rounding.
    if (noise_everywhere_ && when > 0.0 && (pair.mutually_singular || pair.used_rank_tolerance)) {
      return {std::nullopt,
              "the variances of different directions are too unequal for double precision"};
    }
    if (too_far_apart(pair)) return {std::nullopt, kTooFarApart};
    return {std::move(pair), ""};
  } catch (const NumericalFailure& failure) {  // it overflows: the other rows still count
    return {std::nullopt, failure.advice()};
  }
}

PairOrReason TrainingPair::pair_at(double when) const {
  return std::visit(
      [&](const auto& sides) { return compare(sides.d.law, sides.d_prime.law, when); }, sides_);
}

template <class Law>
Accuracy TrainingPair::accuracy(const Side<Law>& side, double when) {
  const Minimum& minimum = side.minimum;
  if (!minimum.point) return {Empty{minimum.reason}, Empty{minimum.reason}};
  const auto exact = [&](double value) {
    return Claimed<double>{value, Claim::exact, moments(side.law)};
  };
  Accuracy accuracy{exact(side.law.error(when, *minimum.point)), Empty{"the loss has no minimum"}};
  const std::optional<double> excess = side.law.excess_loss(when);
  if (excess) accuracy.excess_loss = exact(*excess);
  return accuracy;
}

Observation TrainingPair::at(double when) const {
  return std::visit(
      [&](const auto& sides) {
        Observation observation{when, name_of(sides.d.law, when), accuracy(sides.d, when),
                                accuracy(sides.d_prime, when)};
        const auto [pair, reason] = compare(sides.d.law, sides.d_prime.law, when);
        observation.reason = reason;
        if (pair) observation.set_laws(*pair, differences_.equal_covariances());
        if (differences_.curvature || differences_.noise) add_floor(sides, when, observation);
        return observation;
      },
      sides_);
}

/// Spec §5, noise floor: with noise -> c noise it outgrows the start and the difference of the
/// means, so that the covariances which the noise alone makes are what remains.
template <class Law>
void TrainingPair::add_floor(const Sides<Law>& sides, double when, Observation& observation) const {
  if (when == 0.0) {
    observation.floor_reason = "no noise has acted at the start";
    return;
  }
  if (!observation.risk) {
    observation.floor_reason = observation.reason;
    return;
  }
  const auto [pair, reason] = compare(sides.d.noise_alone, sides.d_prime.noise_alone, when);
  if (!pair) {
    observation.floor_reason = reason;
    return;
  }
  const bool full_rank = pair->ratio.size() == sides.d.law.dimension();
  // Where noise does not reach every direction, the start matters however large the noise is.
  if (!full_rank && !start_at_points_) {
    observation.floor_reason = "noise does not reach every direction, where the start decides";
    return;
  }
  observation.floor = Risk::exact(*pair);
}

std::pair<double, double> TrainingPair::rates() const {
  double slowest = kInf;
  double fastest = 0.0;
  const auto add = [&](const Spectrum& spectrum) {
    for (const double value : spectrum.values) {
      if (value == 0.0) continue;
      slowest = std::min(slowest, rate_unit_ * std::abs(value));
      fastest = std::max(fastest, rate_unit_ * std::abs(value));
    }
  };
  std::visit(
      [&](const auto& sides) {
        add(sides.d.law.spectrum());
        add(sides.d_prime.law.spectrum());
      },
      sides_);
  return {slowest, fastest};
}

}  // namespace sfumato
