#include "sfumato/quadratic/training_pair.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/risk/make_observation.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

/// The distribution of a training on a loss, with the noise of D or D' and any start.
OuDistribution flow_distribution(const Covariance& noise, const QuadraticLoss& loss,
                                 const GaussianDistribution& start) {
  return OuDistribution({loss.curvature, loss.pull, noise, loss.given}, start);
}
ChainDistribution chain_distribution(double learning_rate, const Covariance& noise,
                                     const QuadraticLoss& loss, const GaussianDistribution& start) {
  return ChainDistribution({loss.curvature, loss.pull, learning_rate, noise, loss.given}, start);
}

const char* moments(const OuDistribution&) { return "Ornstein-Uhlenbeck moments, closed form"; }
const char* moments(const ChainDistribution&) { return "moments of the chain, closed form"; }

}  // namespace

TrainingPair::Sides TrainingPair::sides_of(const Pair<QuadraticTraining>& pair,
                                           const std::optional<double>& learning_rate) {
  const auto side = [&]<class Distribution>(const QuadraticTraining& training,
                                            const auto& distribution_of) {
    const VectorXd zero = VectorXd::Zero(training.dimension());
    return Side<Distribution>{
        distribution_of(training.noise, training.loss, training.start),
        distribution_of(training.noise, with_pull(training.loss, zero), point_distribution(zero)),
        minimum(training.loss)};
  };
  if (!learning_rate) {
    return map(pair, [&](const QuadraticTraining& training) {
      return side.operator()<OuDistribution>(training, flow_distribution);
    });
  }
  const auto distribution_of = [rate = *learning_rate](const Covariance& noise,
                                                       const QuadraticLoss& loss,
                                                       const GaussianDistribution& start) {
    return chain_distribution(rate, noise, loss, start);
  };
  return map(pair, [&](const QuadraticTraining& training) {
    return side.operator()<ChainDistribution>(training, distribution_of);
  });
}

TrainingPair::TrainingPair(const Pair<QuadraticTraining>& pair, std::optional<double> learning_rate)
    : sides_(sides_of(pair, learning_rate)),
      rate_unit_(learning_rate.value_or(1.0)),
      noise_everywhere_(is_definite(pair.d.noise) && is_definite(pair.d_prime.noise)),
      start_at_points_(trace(pair.d.start.covariance) == 0.0 &&
                       trace(pair.d_prime.start.covariance) == 0.0),
      differences_(differences_of_trainings(pair)) {}

template <class Distribution>
PairOrReason TrainingPair::compare(const Distribution& p, const Distribution& q,
                                   double when) const {
  if (when == kInf) {
    const std::string reason = p.long_run().reason;
    const std::string reason_prime = q.long_run().reason;
    if (!reason.empty() || !reason_prime.empty()) {
      return {std::nullopt, joined_reasons(reason, reason_prime)};
    }
  }
  try {
    WhitenedPair pair = whiten_at(p, q, when);
    // Noise in every direction leaves no distribution singular: a rank that is lost is lost to rounding.
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
      [&](const auto& sides) {
        return compare(sides.d.distribution, sides.d_prime.distribution, when);
      },
      sides_);
}

template <class Distribution>
Accuracy TrainingPair::accuracy(const Side<Distribution>& side, double when) {
  const Minimum& minimum = side.minimum;
  if (!minimum.point) return {{{}, minimum.reason}, {{}, minimum.reason}};
  const auto exact = [&](double value) {
    return Claimed<double>{value, Claim::exact, moments(side.distribution)};
  };
  Accuracy accuracy{{exact(side.distribution.error(when, *minimum.point)), {}},
                    {{}, "the loss has no minimum"}};
  const std::optional<double> excess = side.distribution.excess_loss(when);
  if (excess) accuracy.excess_loss = {exact(*excess), {}};
  return accuracy;
}

Observation TrainingPair::at(double when) const {
  return std::visit(
      [&](const auto& sides) {
        Observation observation{when,
                                map(sides, [&](const auto& side) { return accuracy(side, when); })};
        const auto [pair, reason] = compare(sides.d.distribution, sides.d_prime.distribution, when);
        observation.reason = reason;
        if (pair) set_distributions(observation, *pair, differences_.equal_covariances());
        if (differences_.curvature || differences_.noise) add_floor(sides, when, observation);
        return observation;
      },
      sides_);
}

/// Spec §5, noise floor: with noise -> c noise it outgrows the start and the difference of the
/// means, so that the covariances which the noise alone makes are what remains.
template <class Distribution>
void TrainingPair::add_floor(const Pair<Side<Distribution>>& sides, double when,
                             Observation& observation) const {
  if (when == 0.0) {
    observation.floor.reason = "no noise has acted at the start";
    return;
  }
  if (!observation.risk) {
    observation.floor.reason = observation.reason;
    return;
  }
  const auto [pair, reason] = compare(sides.d.noise_alone, sides.d_prime.noise_alone, when);
  if (!pair) {
    observation.floor.reason = reason;
    return;
  }
  const bool full_rank = pair->ratio.size() == sides.d.distribution.dimension();
  // Where noise does not reach every direction, the start matters however large the noise is.
  if (!full_rank && !start_at_points_) {
    observation.floor.reason = "noise does not reach every direction, where the start decides";
    return;
  }
  observation.floor.value = Risk::exact(*pair);
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
        add(sides.d.distribution.spectrum());
        add(sides.d_prime.distribution.spectrum());
      },
      sides_);
  return {slowest, fastest};
}

}  // namespace sfumato
