#include "reproduce/as_printed.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/divergence/upper_integral.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato::as_printed {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Two roads to the same number differ by rounding.
constexpr double kSlack = 1e-9;

Printed against_exact(double value, std::optional<double> exact, const char* when_unknown) {
  if (!exact) return {value, false, when_unknown};
  if (value < *exact * (1.0 - kSlack)) {
    return {value, false, fmt::format("below the exact KL, {:.6g}", *exact)};
  }
  return {value, true, fmt::format("not below the exact KL, {:.6g}, in this case", *exact)};
}

/// 1/2 E_p |Sigma^{-1/2} Phi|^2 with the printed Phi, (Sigma' - Sigma) grad log q - (b' - b).
double printed_rate(const OuPair& pair, const GaussianDistribution& p,
                    const GaussianDistribution& q) {
  const MatrixXd noise_gap = dense(pair.q.noise) - dense(pair.p.noise);
  const MatrixXd curvature_gap = pair.q.curvature - pair.p.curvature;
  const MatrixXd variance = dense(p.covariance);
  const Eigen::LLT<MatrixXd> other(dense(q.covariance));
  const MatrixXd slope = curvature_gap - other.solve(noise_gap).transpose();
  const VectorXd centre = curvature_gap * p.mean + (pair.p.pull - pair.q.pull) +
                          noise_gap * other.solve(q.mean - p.mean);
  const Eigen::LLT<MatrixXd> noise(dense(pair.p.noise));
  const MatrixXd whitened = noise.matrixL().solve(slope);
  return 0.5 * (noise.matrixL().solve(centre).squaredNorm() +
                (whitened * variance).cwiseProduct(whitened).sum());
}

}  // namespace

Printed entropy_bound(const OuPair& pair, double time) {
  require_finite("time", require_non_negative("time", time));
  if (same_matrix(pair.p.noise, pair.q.noise)) {
    const KlBound ours = entropy_rate_bounds(pair, time).primal;
    return {ours.kl.value.value(), true,
            ours.reason.empty()
                ? "the noise covariances are equal, so it agrees with the corrected one"
                : ours.reason};
  }
  if (!is_definite(pair.p.noise)) return {kInf, true, "the first noise covariance is singular"};
  if (!is_definite(pair.start_p.covariance) || !is_definite(pair.start_q.covariance)) {
    return {
        kInf, true,
        "the start is singular (a point) and the noise covariances differ: the integral diverges, "
        "where the paper takes it to be finite"};
  }
  const OuDistribution p(pair.p, pair.start_p);
  const OuDistribution q(pair.q, pair.start_q);
  const double value =
      upper_integral([&](double s, double) { return printed_rate(pair, p.at(s), q.at(s)); }, time,
                     {1e-6 * time, kInf});
  return against_exact(value, exact_kl(pair, time).value.value(), "");
}

Printed lsi_constant(double variance, double kappa, double start_constant, double time) {
  require_positive("variance", variance);
  require_positive("kappa", kappa);
  require_non_negative("start_constant", start_constant);
  require_non_negative("time", time);
  const double rho = 0.5 * variance * kappa;
  const double value =
      -2.0 / rho * std::expm1(-rho * time) + start_constant * std::exp(-rho * time);
  const double exact = sfumato::lsi_constant(variance, kappa, start_constant, time);
  if (value < exact * (1.0 - kSlack)) {
    return {
        value, false,
        fmt::format("below {:.6g}, the exact constant of the process with this curvature", exact)};
  }
  return {value, true, fmt::format("not below the exact constant, {:.6g}, in this case", exact)};
}

Printed uniform_proposition(const LangevinConstants& c, double start_constant,
                            std::optional<double> exact_kl) {
  const double smoothness = c.f.lipschitz / c.f_prime.lipschitz;
  const double rate = c.variance_prime * c.f_prime.kappa;
  const double braces =
      2.0 * (smoothness * smoothness + 2.0) * (0.5 * c.variance / c.f.kappa + 1.0) +
      c.minimiser_distance * c.minimiser_distance;
  const double value = 8.0 * c.f_prime.lipschitz * c.f_prime.lipschitz / c.variance * braces *
                       (4.0 + start_constant * rate) / (c.variance * rate);
  return against_exact(value, exact_kl,
                       "no proof: its log-Sobolev constant, dimension and start are wrong");
}

Printed stationary_proposition(const LangevinConstants& c, std::optional<double> exact_kl) {
  const double l = c.f.lipschitz;
  const double l_prime = c.f_prime.lipschitz;
  const double braces = 2.0 * (c.variance_prime * l * l / (c.variance * l_prime * l_prime) + 2.0) *
                            0.5 * c.variance / c.f.kappa +
                        c.minimiser_distance * c.minimiser_distance;
  const double value =
      l_prime * l_prime / (2.0 * c.f_prime.kappa * std::pow(c.variance_prime, 3)) * braces;
  return against_exact(value, exact_kl,
                       "no proof: its invariant distribution and log-Sobolev constant are wrong");
}

Printed convergence_lemma(double noise_trace, double kappa, double start_distance, double time) {
  require_positive("kappa", kappa);
  const double value = std::exp(-2.0 * kappa * time) + noise_trace / (4.0 * kappa);
  const double attained =
      0.5 * mean_square_distance_bound(noise_trace, kappa, start_distance, time);
  if (value < attained * (1.0 - kSlack)) {
    return {
        value, false,
        fmt::format("below {:.6g}, which the quadratic loss of this curvature attains", attained)};
  }
  return {value, true,
          fmt::format("not below the corrected bound, {:.6g}, in this case", attained)};
}

Printed noise_norm_bound(const OuPair& pair, double time, Under under) {
  const Where where = Where::here();
  require_finite("time", require_non_negative("time", time, where), where);
  if (!same_matrix(pair.p.noise, pair.q.noise)) {
    throw InvalidArgument("the noise covariances differ", "Use entropy_rate_bounds", where);
  }
  if (!is_definite(pair.p.noise)) {
    throw NumericalFailure("the noise covariance is singular",
                           "Add noise to the directions that have none", where);
  }
  const double smallest = spectrum_of(dense(pair.p.noise)).values.minCoeff();
  const OuDistribution distribution(pair.p, pair.start_p);
  const MatrixXd difference = pair.p.curvature - pair.q.curvature;
  const VectorXd offset = pair.p.pull - pair.q.pull;
  const auto mean_square = [&](double s) {
    const GaussianDistribution at = distribution.at(s);
    return (difference * at.mean - offset).squaredNorm() +
           (difference * dense(at.covariance)).cwiseProduct(difference).sum();
  };
  const double integral = under == Under::final_distribution
                              ? time * mean_square(time)
                              : upper_integral([&](double s, double) { return mean_square(s); },
                                               time, {1e-6 * time, kInf});
  if (start_kl(pair.start_p, pair.start_q) > 0.0) {
    return {integral / smallest, false, "the paper assumes a common start"};
  }
  return against_exact(integral / smallest, exact_kl(pair, time).value.value(), "");
}

PrintedMatrix quadratic_covariance(const OuProcess& process, double time) {
  const OuDistribution distribution(process,
                                    point_distribution(VectorXd::Zero(process.pull.size())));
  require_non_negative("time", time);
  const Spectrum& spectrum = distribution.spectrum();
  VectorXd scale(spectrum.values.size());
  for (Eigen::Index i = 0; i < scale.size(); ++i) {
    if (spectrum.values(i) == 0.0) {
      throw NumericalFailure("the curvature is singular and the printed formula inverts it",
                             "Use the distribution of the process");
    }
    scale(i) = phi1(2.0 * spectrum.values(i), time);  // 1/2 (1 - e^{-2 l t}) / l
  }
  const MatrixXd noise = dense(process.noise);
  const MatrixXd q = spectrum.is_diagonal()
                         ? MatrixXd(MatrixXd::Identity(noise.rows(), noise.cols()))
                         : spectrum.vectors;
  const MatrixXd value = q * scale.asDiagonal() * q.transpose() * noise;
  const MatrixXd commutator = process.curvature * noise - noise * process.curvature;
  if (commutator.norm() <= 1e-12 * process.curvature.norm() * noise.norm()) {
    return {value, true, "curvature and noise commute, so it is the covariance from a point start"};
  }
  return {value, false,
          "curvature and noise do not commute: it is not symmetric and not a covariance"};
}

}  // namespace sfumato::as_printed
