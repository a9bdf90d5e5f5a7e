#include "sfumato/sde/chain_distribution.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// 1 - (1 - a)(1 - b) without cancellation for small a, b.
double joint(double a, double b) {
  const double value = a + b - a * b;
  return std::isnan(value) ? -kInf : value;  // a + b overflows: the product is far larger
}

}  // namespace

double power_of_complement(double u, double steps) {
  if (steps == 0.0) return 1.0;
  if (u == 1.0) return 0.0;
  if (u < 1.0) return std::exp(steps * std::log1p(-u));
  const double size = std::exp(steps * std::log(u - 1.0));
  return std::fmod(steps, 2.0) == 0.0 ? size : -size;
}

double geometric_sum(double u, double steps) {
  if (u == 0.0 || steps <= 1.0) return steps;
  if (std::isinf(u)) return kInf;  // u < 0, as 1 - r^2 is when r^2 overflows
  if (u < 1.0) return -std::expm1(steps * std::log1p(-u)) / u;
  return (1.0 - power_of_complement(u, steps)) / u;
}

void require_steps(double steps, const Where& where) {
  require_non_negative("steps", steps, where);
  if (std::isinf(steps) || steps == std::floor(steps)) return;
  throw InvalidArgument(fmt::format("steps = {} is not a whole number", steps),
                        "Count the steps, or pass infinity for the long run", where);
}

ChainDistribution::ChainDistribution(const LinearChain& chain, const GaussianDistribution& start)
    : start_(start),
      precise_(given_training({chain.curvature, chain.pull, chain.step_noise, chain.given}, start,
                              chain.learning_rate)) {
  const Where where = Where::here();
  const MatrixXd curvature =
      require_linear({chain.curvature, chain.pull, chain.step_noise}, start, where);
  require_positive("learning_rate", chain.learning_rate, where);
  require_finite("trace of step_noise", trace(chain.step_noise), where);
  require_finite("trace of start.covariance", trace(start.covariance), where);

  spectrum_ = spectrum_of(curvature);
  lost_digits_ = loses_digits(spectrum_);
  if (lost_digits_) {
    RoundedSpectrum precise = precise_.spectrum();
    spectrum_ = {std::move(precise.values), std::move(precise.vectors)};
    pull_ = std::move(precise.pull);
    force_ = chain.learning_rate * precise.force;
  } else {
    pull_ = spectrum_.to_eigenbasis(chain.pull);
    force_ = chain.learning_rate * spectrum_.to_eigenbasis(chain.pull - curvature * start.mean);
  }
  speed_ = chain.learning_rate * spectrum_.values;
  mean_ = spectrum_.to_eigenbasis(start.mean);
  if (!spectrum_.is_diagonal()) {  // flat directions are only pulled, and not by rounding
    for (Index i = 0; i < dimension(); ++i) {
      if (speed_(i) != 0.0) continue;
      const bool pulled = std::abs(pull_(i)) > kNoPull * chain.pull.norm();
      force_(i) = pulled ? chain.learning_rate * pull_(i) : 0.0;
    }
  }
  diagonal_ = spectrum_.is_diagonal() && sfumato::is_diagonal(chain.step_noise) &&
              sfumato::is_diagonal(start.covariance);
  noise_ =
      diagonal_ ? MatrixXd(diagonal_of(chain.step_noise)) : spectrum_.rotated(chain.step_noise);
  spread_ =
      diagonal_ ? MatrixXd(diagonal_of(start.covariance)) : spectrum_.rotated(start.covariance);
}

ChainDistribution ChainDistribution::of(const GivenTraining& training) {
  const auto& loss = std::get<MatrixGiven>(training.loss);
  return ChainDistribution({loss.curvature, loss.pull, training.learning_rate, training.noise},
                           training.start);
}

template <class Entry>
Covariance ChainDistribution::rotate_back(Entry entry) const {
  const Index d = dimension();
  if (diagonal_) {
    VectorXd variances(d);
    for (Index i = 0; i < d; ++i) variances(i) = entry(i, i, noise_(i, 0), spread_(i, 0));
    return Diagonal{std::move(variances)};
  }
  MatrixXd matrix(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      matrix(i, j) = matrix(j, i) = entry(i, j, noise_(i, j), spread_(i, j));
    }
  }
  if (spectrum_.is_diagonal()) return Dense{std::move(matrix)};
  const MatrixXd full = spectrum_.vectors * matrix * spectrum_.vectors.transpose();
  return Dense{0.5 * (full + full.transpose())};
}

GaussianDistribution ChainDistribution::at(double steps) const {
  require_steps(steps);
  if (steps == 0.0) return start_;
  if (steps == kInf) {
    LongRunDistribution limit = long_run();
    if (!limit.distribution) {
      throw NumericalFailure(limit.reason, "Ask for a finite number of steps",
                             Where::here("the chain"));
    }
    return *std::move(limit.distribution);
  }
  VectorXd power(dimension());
  for (Index i = 0; i < dimension(); ++i) power(i) = power_of_complement(speed_(i), steps);
  GaussianDistribution distribution{
      start_.mean + displacement(steps),
      rotate_back([&](Index i, Index j, double noise, double spread) {
        return product_or_zero(noise, geometric_sum(joint(speed_(i), speed_(j)), steps)) +
               product_or_zero(spread, power(i) * power(j));
      })};
  if (!distribution.mean.allFinite() || !std::isfinite(trace(distribution.covariance))) {
    throw NumericalFailure(
        fmt::format(
            "the distribution at step {} overflows (learning rate times curvature lies between "
            "{:.6g} and {:.6g}, and only values in [0, 2] are stable)",
            steps, speed_.minCoeff(), speed_.maxCoeff()),
        "Ask for fewer steps, or lower the learning rate", Where::here("the chain"));
  }
  return distribution;
}

VectorXd ChainDistribution::displacement(double steps) const {
  VectorXd moved(dimension());
  for (Index i = 0; i < dimension(); ++i) {
    moved(i) = product_or_zero(force_(i), geometric_sum(speed_(i), steps));
  }
  return spectrum_.from_eigenbasis(moved);
}

double ChainDistribution::mean_square(Index i, double gap, double steps) const {
  const double loss = joint(speed_(i), speed_(i));  // 1 - r^2
  double decay = 0.0;
  double accumulated = 0.0;
  if (steps == kInf) {
    decay = loss > 0.0 ? 0.0 : loss == 0.0 ? 1.0 : kInf;
    accumulated = loss > 0.0 ? 1.0 / loss : kInf;
  } else {
    const double power = power_of_complement(speed_(i), steps);
    decay = power * power;
    accumulated = geometric_sum(loss, steps);
  }
  // Variances along an eigenvector are negative only by rounding.
  const double noise = std::max(0.0, diagonal_ ? noise_(i, 0) : noise_(i, i));
  const double spread = std::max(0.0, diagonal_ ? spread_(i, 0) : spread_(i, i));
  return product_or_zero(gap * gap + spread, decay) + product_or_zero(noise, accumulated);
}

double ChainDistribution::error(double steps, const VectorXd& minimiser) const {
  require_steps(steps);
  require_size("minimiser", minimiser.size(), dimension());
  const VectorXd aim = spectrum_.to_eigenbasis(minimiser);
  double sum = 0.0;
  for (Index i = 0; i < dimension(); ++i) sum += mean_square(i, mean_(i) - aim(i), steps);
  return sum;
}

double ChainDistribution::excess_loss(double steps) const {
  require_steps(steps);
  double sum = 0.0;
  for (Index i = 0; i < dimension(); ++i) {
    const double rate = spectrum_.values(i);
    if (rate > 0.0) sum += 0.5 * rate * mean_square(i, mean_(i) - pull_(i) / rate, steps);
  }
  return sum;
}

LongRunDistribution ChainDistribution::long_run() const {
  const VectorXd variances = diagonal_ ? VectorXd(noise_.col(0)) : VectorXd(noise_.diagonal());
  const double noiseless = diagonal_ ? 0.0 : kNoNoise * variances.maxCoeff();
  for (Index i = 0; i < dimension(); ++i) {
    if (speed_(i) > 0.0 && speed_(i) < 2.0) continue;
    const char* problem = speed_(i) != 0.0 ? "lies outside [0, 2): the chain runs away along it"
                          : variances(i) > noiseless ? "is zero and there is noise along it"
                          : force_(i) != 0.0 ? "is zero and the gradient does not vanish along it"
                                             : nullptr;
    if (problem == nullptr) continue;
    return {
        std::nullopt,
        fmt::format("there is no stationary distribution: learning rate times eigenvalue {:.6g} {}",
                    speed_(i), problem)};
  }
  VectorXd moved(dimension());
  for (Index i = 0; i < dimension(); ++i) moved(i) = speed_(i) > 0.0 ? force_(i) / speed_(i) : 0.0;
  Covariance covariance = rotate_back([&](Index i, Index j, double noise, double spread) {
    if (speed_(i) > 0.0 && speed_(j) > 0.0) return noise / joint(speed_(i), speed_(j));
    return speed_(i) == speed_(j) ? spread : 0.0;
  });
  return {
      GaussianDistribution{start_.mean + spectrum_.from_eigenbasis(moved), std::move(covariance)},
      {}};
}

namespace {

/// In double precision.
WhitenedPair rounded_pair(const ChainDistribution& p, const ChainDistribution& q, double steps) {
  const GaussianDistribution distribution_p = p.at(steps);
  const GaussianDistribution distribution_q = q.at(steps);
  if (steps < kInf && p.start().mean == q.start().mean) {
    return whiten(VectorXd::Zero(p.dimension()), distribution_p.covariance,
                  q.displacement(steps) - p.displacement(steps), distribution_q.covariance);
  }
  return whiten(distribution_p, distribution_q);
}

}  // namespace

WhitenedPair whiten_at(const ChainDistribution& p, const ChainDistribution& q, double steps) {
  require_size("q", q.dimension(), p.dimension());
  require_steps(steps);
  return whiten_carefully(p, q, steps, rounded_pair);
}

}  // namespace sfumato
