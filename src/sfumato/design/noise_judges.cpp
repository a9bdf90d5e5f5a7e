#include "sfumato/design/noise_judges.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The inverse of the covariance of a law.
MatrixXd precision(const GaussianLaw& law) {
  if (!is_definite(law.covariance)) {
    throw InvalidArgument("the law is singular at this time",
                          "Judge a time after the start, with noise in every direction",
                          Where::here("judge_linear"));
  }
  const Index d = law.mean.size();
  return solve(law.covariance, MatrixXd::Identity(d, d));
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

/// Weights of a bound at equally spaced times: the integral of its kernel,  1/2  for the path bound
/// (kappa = 0),  e^{-kappa (t - s)} / (1 + e^{-kappa t})  for the contractive one, against the function
/// that is linear between the times.
VectorXd bound_weights(const std::vector<double>& times, double kappa) {
  const auto count = static_cast<Index>(times.size());
  const double end = times.back();
  const double spacing = times[1] - times[0];
  VectorXd weights = VectorXd::Zero(count);
  for (Index i = 0; i + 1 < count; ++i) {
    const double ahead = end - times[static_cast<std::size_t>(i) + 1];
    const double kernel =
        kappa > 0.0 ? std::exp(-kappa * ahead) / (1.0 + std::exp(-kappa * end)) : 0.5;
    const double whole = phi1(kappa, spacing);
    const double x = kappa * spacing;
    // The share of the later end: 1/2 for a constant kernel, and x/12 more to first order.
    const double later = x > 1e-3 ? (1.0 - whole / spacing) / kappa : whole * (0.5 + x / 12.0);
    weights(i + 1) += kernel * later;
    weights(i) += kernel * (whole - later);
  }
  return weights;
}

/// Second moments of b - b' under simulated paths, integrated over time with the weights of a bound.
MatrixXd weighted_moments(const SdePair& pair, double time, double kappa,
                          const SimulatedJudgeOptions& options, Observer& observer) {
  const Index d = pair.p.diffusion.dimension;
  const double from = kappa > 0.0 ? std::max(0.0, time - kMemory / kappa) : 0.0;
  std::vector<double> times;
  for (int i = 0; i <= kTimes; ++i) times.push_back(from + (time - from) * i / kTimes);
  const Simulation simulation =
      simulate(pair.p.diffusion, pair.p.start, {times, options.step}, options.simulation, observer);
  if (!simulation.diverged.empty()) {
    throw NumericalFailure(fmt::format("{} simulated paths diverged", simulation.diverged.size()),
                           "Shorten estimate.step", Where::here("judge_by_simulation"));
  }
  MatrixXd moments = MatrixXd::Zero(d, options.diagonal ? 1 : d);
  if (simulation.paths == 0) return moments;  // stopped
  const VectorXd weights = bound_weights(times, kappa);
  for (std::size_t i = 0; i < simulation.clouds.size(); ++i) {
    const Cloud& cloud = simulation.clouds[i];
    Points drift(cloud.points.rows(), d);
    Points other(cloud.points.rows(), d);
    pair.p.diffusion.drift(cloud.time, cloud.points, drift);
    pair.q.diffusion.drift(cloud.time, cloud.points, other);
    const MatrixXd gap = (drift - other).matrix();
    const double share = weights(static_cast<Index>(i)) / static_cast<double>(simulation.paths);
    if (options.diagonal) {
      moments += share * gap.colwise().squaredNorm().transpose();
    } else {
      moments.noalias() += share * gap.transpose() * gap;
    }
  }
  return moments;
}

}  // namespace

NoiseJudgement judge_linear(OuPair pair, const Covariance& noise, double time) {
  if (!(time > 0.0)) {
    throw InvalidArgument(fmt::format("time = {} is not positive", time),
                          "Judge a time after the start");
  }
  pair.p.noise = pair.q.noise = noise;
  const OuLaw p(pair.p, pair.start_p);
  const OuLaw q(pair.q, pair.start_q);
  const GaussianLaw law_p = p.at(time);
  const GaussianLaw law_q = q.at(time);
  const MatrixXd inverse_p = precision(law_p);
  const MatrixXd inverse_q = precision(law_q);
  const VectorXd gap = law_p.mean - law_q.mean;
  const MatrixXd slope_p = 0.5 * (inverse_q - inverse_p);
  const MatrixXd spread = dense(law_p.covariance) + gap * gap.transpose();
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
  const auto& contraction = pair.q.diffusion.contraction;
  const double rate = contraction ? contraction(*noise.value) : 0.0;
  const auto judged = [&](double kappa) -> NoiseJudgement {
    const MatrixXd moments = weighted_moments(pair, time, kappa, options, observer);
    Covariance kept = options.diagonal ? Covariance(Diagonal{moments.col(0)}) : Dense{moments};
    const double cost = options.diagonal
                            ? moments.col(0).cwiseQuotient(diagonal_of(*noise.value)).sum()
                            : solve(*noise.value, moments).trace();
    return {{Nats{cost + start_kl(pair.p.start, pair.q.start)}, Claim::estimate,
             kappa > 0.0 ? "contractive bound, simulated" : "path bound, simulated"},
            std::move(kept)};
  };
  NoiseJudgement result = judged(0.0);
  if (rate > 0.0 && !observer.stop_requested()) {
    NoiseJudgement contractive = judged(rate);
    if (contractive.kl.value < result.kl.value) result = std::move(contractive);
  }
  return result;
}

}  // namespace sfumato
