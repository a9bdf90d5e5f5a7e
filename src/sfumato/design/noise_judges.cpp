#include "sfumato/design/noise_judges.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The inverse of the covariance of a distribution.
MatrixXd precision(const GaussianDistribution& distribution) {
  if (!is_definite(distribution.covariance)) {
    throw InvalidArgument("the distribution is singular at this time",
                          "Judge a time after the start, with noise in every direction",
                          Where::here("judge_linear"));
  }
  const Index d = distribution.mean.size();
  return solve(distribution.covariance, MatrixXd::Identity(d, d));
}

/// The adjoint of  Sigma -> V_t - e^{-At} V_0 e^{-At}, which is its own.
MatrixXd pulled_back(const Spectrum& spectrum, const MatrixXd& slope, double time) {
  const MatrixXd& q = spectrum.vectors;
  MatrixXd rotated = spectrum.is_diagonal() ? slope : MatrixXd(q.transpose() * slope * q);
  for (Index i = 0; i < rotated.rows(); ++i) {
    for (Index j = 0; j < rotated.cols(); ++j) {
      rotated(i, j) *= phi1(spectrum.values(i) + spectrum.values(j), time);
    }
  }
  return spectrum.is_diagonal() ? rotated : MatrixXd(q * rotated * q.transpose());
}

constexpr int kTimes = 32;
/// e^{-40} is below rounding: what happened so many contraction times ago is forgotten.
constexpr double kMemory = 40.0;

/// Times that resolve the path bound, and the last contraction times once more. They must not depend
/// on the noise that is judged: equal steps give equal random numbers.
std::vector<double> judged_times(double time, double rate) {
  std::set<double> times;
  for (int i = 0; i <= kTimes; ++i) times.insert(time * i / kTimes);
  const double recent = rate > 0.0 ? std::min(time, kMemory / rate) : 0.0;
  for (int i = 0; i < kTimes && recent > 0.0; ++i) times.insert(time - recent * i / kTimes);
  return {times.begin(), times.end()};
}

/// Weights of a bound at these times: the integral of its kernel,  1/2  for the path bound (kappa = 0),
/// e^{-kappa (t - s)} / (1 + e^{-kappa t})  for the contractive one, against the function that is
/// linear between the times.
VectorXd bound_weights(const std::vector<double>& times, double kappa) {
  VectorXd weights = VectorXd::Zero(static_cast<Index>(times.size()));
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double spacing = times[i + 1] - times[i];
    const double kernel = kappa > 0.0 ? std::exp(-kappa * (times.back() - times[i + 1])) /
                                            (1.0 + std::exp(-kappa * times.back()))
                                      : 0.5;
    const double whole = phi1(kappa, spacing);
    const double x = kappa * spacing;
    // The share of the later end: 1/2 for a constant kernel, and x/12 more to first order.
    const double later = x > 1e-3 ? (1.0 - whole / spacing) / kappa : whole * (0.5 + x / 12.0);
    weights(static_cast<Index>(i) + 1) += kernel * later;
    weights(static_cast<Index>(i)) += kernel * (whole - later);
  }
  return weights;
}

/// b - b' along the simulated paths of p.
class SimulatedGaps {
 public:
  SimulatedGaps(const SdePair& pair, double time, const SimulatedJudgeOptions& options,
                Observer& observer)
      : times_(judged_times(time, options.rate)) {
    const Simulation simulation = simulate(pair.p.diffusion, pair.p.start, {times_, options.step},
                                           options.simulation, observer);
    if (!simulation.diverged.empty()) {
      throw NumericalFailure(fmt::format("{} simulated paths diverged", simulation.diverged.size()),
                             "Shorten estimate.step", Where::here("judge_by_simulation"));
    }
    for (const Cloud& cloud : simulation.clouds) {
      Points drift(cloud.points.rows(), cloud.points.cols());
      Points other(cloud.points.rows(), cloud.points.cols());
      pair.p.diffusion.drift(cloud.time, cloud.points, drift);
      pair.q.diffusion.drift(cloud.time, cloud.points, other);
      gaps_.emplace_back((drift - other).matrix());
    }
  }

  /// Their second moments, integrated over time with the weights of a bound.
  [[nodiscard]] Covariance moments(double kappa, bool diagonal) const {
    const VectorXd weights = bound_weights(times_, kappa);
    const Index d = gaps_.front().cols();
    VectorXd squares = VectorXd::Zero(d);
    MatrixXd products = MatrixXd::Zero(diagonal ? 0 : d, diagonal ? 0 : d);
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
      const MatrixXd& gap = gaps_[i];
      if (gap.rows() == 0) continue;  // stopped
      const double share = weights(static_cast<Index>(i)) / static_cast<double>(gap.rows());
      if (diagonal) {
        squares += share * gap.colwise().squaredNorm().transpose();
      } else {
        products.noalias() += share * gap.transpose() * gap;
      }
    }
    if (diagonal) return Diagonal{std::move(squares)};
    return Dense{std::move(products)};
  }

 private:
  std::vector<double> times_;
  std::vector<MatrixXd> gaps_;
};

}  // namespace

NoiseJudgement judge_linear(OuPair pair, const Covariance& noise, double time) {
  if (!(time > 0.0)) {
    throw InvalidArgument(fmt::format("time = {} is not positive", time),
                          "Judge a time after the start");
  }
  pair.p.noise = pair.q.noise = noise;
  const OuDistribution p(pair.p, pair.start_p);
  const OuDistribution q(pair.q, pair.start_q);
  const GaussianDistribution distribution_p = p.at(time);
  const GaussianDistribution distribution_q = q.at(time);
  const MatrixXd inverse_p = precision(distribution_p);
  const MatrixXd inverse_q = precision(distribution_q);
  const VectorXd gap = distribution_p.mean - distribution_q.mean;
  const MatrixXd slope_p = 0.5 * (inverse_q - inverse_p);
  const MatrixXd spread = dense(distribution_p.covariance) + gap * gap.transpose();
  const MatrixXd slope_q = 0.5 * (inverse_q - inverse_q * spread * inverse_q);
  const MatrixXd slope =
      pulled_back(p.spectrum(), slope_p, time) + pulled_back(q.spectrum(), slope_q, time);
  return {exact_kl(pair, time), Dense{-multiply(noise, multiply(noise, slope).transpose())}};
}

NoiseJudgement judge_by_simulation(const SdePair& pair, double time,
                                   const SimulatedJudgeOptions& options, Observer& observer) {
  require_positive("time", time);
  const Known<Covariance> noise = common_noise(pair);
  if (!noise.value || !is_definite(*noise.value)) {
    throw InvalidArgument(noise.value ? "the noise is singular" : noise.reason,
                          "Give both sides the same constant noise in every direction",
                          Where::here("judge_by_simulation"));
  }
  const SimulatedGaps gaps(pair, time, options, observer);
  const double start = start_kl(pair.p.start, pair.q.start);
  const auto judged = [&](double kappa) -> NoiseJudgement {
    Covariance moments = gaps.moments(kappa, options.diagonal);
    const double cost = options.diagonal
                            ? diagonal_of(moments).cwiseQuotient(diagonal_of(*noise.value)).sum()
                            : solve(*noise.value, dense(moments)).trace();
    return {{Nats{cost + start}, Claim::estimate,
             kappa > 0.0 ? "contractive bound, simulated" : "path bound, simulated"},
            std::move(moments)};
  };
  NoiseJudgement result = judged(0.0);
  const auto& contraction = pair.q.diffusion.contraction;
  const double rate = contraction ? contraction(*noise.value) : 0.0;
  if (rate > 0.0) {
    NoiseJudgement contractive = judged(rate);
    if (contractive.kl.value < result.kl.value) result = std::move(contractive);
  }
  return result;
}

}  // namespace sfumato
