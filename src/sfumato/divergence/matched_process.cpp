#include "sfumato/divergence/matched_process.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/math/singular_values.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Cholesky = Eigen::LLT<MatrixXd>;

const char* const kMethod = "matched process";

MatrixXd noise_gap(const Covariance& noise, const Covariance& noise_prime) {
  if (same_matrix(noise, noise_prime)) return MatrixXd::Zero(dimension(noise), dimension(noise));
  return 0.5 * (dense(noise_prime) - dense(noise));
}

Cholesky metric_factor(const Covariance& metric) {
  Cholesky factor(dense(metric));
  if (factor.info() != Eigen::Success || !is_definite(metric)) {
    throw NumericalFailure("the noise covariance is singular",
                           "Add noise to the directions that have none", Where::here(kMethod));
  }
  return factor;
}

double smallest_eigenvalue(const Covariance& covariance) {
  const Spectrum spectrum = spectrum_of(dense(covariance));
  return spectrum.values.minCoeff() - (spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum));
}

/// A root F of a covariance, F F^T = V, and how far F is at most from one of the given V (W_2 of the two, that is).
struct Root {
  MatrixXd value;
  double off;
};

/// `rounding` is what may be wrong with V, in the Frobenius norm.
Root root_of(const MatrixXd& v, double rounding) {
  const SymmetricEigen eigen(v);
  const VectorXd values = eigen.eigenvalues().cwiseMax(0.0);
  Root root{eigen.eigenvectors() * values.cwiseSqrt().asDiagonal(), 0.0};
  const double residual = (root.value * root.value.transpose() - v).norm() + rounding;
  if (residual == 0.0) return root;
  // |V^{1/2} - V'^{1/2}|_F is at most the root of the trace norm of V - V' (Powers and Stoermer), and at most
  // |V - V'|_F divided by the smaller root's least eigenvalue.
  const double least = std::sqrt(std::max(0.0, values(0) - residual));
  const double by_trace = std::sqrt(std::sqrt(static_cast<double>(v.rows())) * residual);
  root.off = least > 0.0 ? std::min(by_trace, residual / least) : by_trace;
  return root;
}

/// W_2 of two normal distributions in |.|_S, rounded up.
double start_distance(const GaussianDistribution& p, const GaussianDistribution& q,
                      const Covariance& metric) {
  const Cholesky factor = metric_factor(metric);
  const Index d = p.mean.size();
  const double length = factor.matrixL().solve(MatrixXd::Identity(d, d)).norm();
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  const auto root_in_metric = [&](const Covariance& v) {
    const MatrixXd given = dense(v);
    const MatrixXd half = factor.matrixL().solve(given);
    const MatrixXd full = factor.matrixL().solve(half.transpose());
    const double rounding = 8.0 * static_cast<double>(d) * kEps * length * length * given.norm();
    return root_of(0.5 * (full + full.transpose()), rounding);
  };
  // Z -> (F Z, F' O Z) couples the two for every rotation O, so that |F - F' O|_F is an upper bound whatever O is; the
  // best one is the polar factor of F'^T F. Nothing is subtracted but F and F' O themselves: the form with traces
  // cancels where the two are near.
  const Root first = root_in_metric(p.covariance);
  const Root second = root_in_metric(q.covariance);
  const MatrixXd rotated = second.value * polar_factor(second.value.transpose() * first.value);
  const double spread =
      (first.value - rotated).norm() + first.off + second.off +
      8.0 * static_cast<double>(d) * kEps * (first.value.norm() + second.value.norm());
  const double shift = factor.matrixL().solve(p.mean - q.mean).norm();
  return std::sqrt((shift * shift + spread * spread) * rounding_of_metric(metric)) *
         (1.0 + 8.0 * static_cast<double>(d) * kEps);
}

double sigmoid(double z) {
  return z >= 0.0 ? 1.0 / (1.0 + std::exp(-z)) : std::exp(z) / (1.0 + std::exp(z));
}

}  // namespace

DualRate dual_rate(const OuProcess& p, const OuProcess& q, const GaussianDistribution& distribution,
                   const Covariance& metric) {
  const Cholesky root = metric_factor(metric);
  const MatrixXd m = noise_gap(p.noise, q.noise);
  const MatrixXd slope = p.curvature - q.curvature;  // -Da
  const MatrixXd weighted = root.solve(slope);       // N (A - A')
  const VectorXd centre = root.matrixL().solve(slope * distribution.mean - (p.pull - q.pull));
  const MatrixXd spread = dense(distribution.covariance);
  const double norm =
      centre.squaredNorm() + (slope.transpose() * weighted).cwiseProduct(spread).sum();
  const double divergence = 2.0 * m.cwiseProduct(weighted.transpose()).sum();
  const MatrixXd weight = m * root.solve(m);
  return {norm + divergence, solve(distribution.covariance, weight).trace()};
}

RecordRate logistic_record_rate(const VectorXd& weights, const VectorXd& row, double label,
                                double scale, const Covariance& noise,
                                const Covariance& noise_prime, RowIn row_in) {
  if (label != 0.0 && label != 1.0) {
    throw InvalidArgument("the label is not 0 or 1", "Code the classes as 0 and 1");
  }
  const double s = sigmoid(row.dot(weights));
  const VectorXd precise = solve(noise_prime, row).col(0);
  const double length = row.dot(precise);
  const double cross =
      (row_in == RowIn::first ? 1.0 : -1.0) * row.dot(noise_gap(noise, noise_prime) * precise);
  return {scale * scale * (s - label) * (s - label) * length, 2.0 * scale * s * (1.0 - s) * cross,
          scale * scale * length + 0.5 * scale * std::max(cross, 0.0),
          0.5 * scale * std::min(cross, 0.0)};
}

OuMatchedRate::OuMatchedRate(const OuPair& pair, const Covariance& metric)
    : distribution_(pair.p, pair.start_p) {
  require_size("dimension of q", pair.q.pull.size(), distribution_.dimension());
  const LossDifference gap =
      loss_difference({pair.p.curvature, pair.p.pull, pair.p.given.get()},
                      {pair.q.curvature, pair.q.pull, pair.q.given.get()}, pair.start_p.mean);
  const Cholesky root = metric_factor(metric);
  const Spectrum& spectrum = distribution_.spectrum();
  const auto weighted = [&](const MatrixXd& m) -> MatrixXd {
    return root.matrixL().solve(spectrum.is_diagonal() ? m : MatrixXd(m * spectrum.vectors));
  };
  start_gap_ = root.matrixL().solve(gap.at_point);
  slope_ = weighted(gap.curvature);
  noise_gap_ = weighted(noise_gap(pair.p.noise, pair.q.noise));
  noise_ = spectrum.rotated(pair.p.noise);
  spread_ = spectrum.rotated(pair.start_p.covariance);
  rounded_up_ = rounding_of_metric(metric);
  scale_ = 0.5 / spectrum.values.cwiseAbs().maxCoeff();
  if (!noise_gap_.isZero(0.0) && is_definite(pair.p.noise)) {
    const VectorXd ratio = pencil_eigenvalues(dense(pair.start_p.covariance), dense(pair.p.noise));
    if (ratio(0) > 0.0) scale_ = std::min(scale_, ratio(0));
  }
}

bool OuMatchedRate::vanishes() const {
  return slope_.isZero(0.0) && start_gap_.isZero(0.0) && noise_gap_.isZero(0.0);
}

double OuMatchedRate::time_scale() const { return scale_; }

MatrixXd OuMatchedRate::variance(double time) const {
  const VectorXd& rates = distribution_.spectrum().values;
  MatrixXd result(rates.size(), rates.size());
  for (Index j = 0; j < rates.size(); ++j) {
    for (Index i = j; i < rates.size(); ++i) {
      const double rate = rates(i) + rates(j);
      result(i, j) = result(j, i) = product_or_zero(noise_(i, j), phi1(rate, time)) +
                                    product_or_zero(spread_(i, j), decay(rate, time));
    }
  }
  return result;
}

double OuMatchedRate::in_distribution(const VectorXd& moved, const MatrixXd& variance) const {
  const VectorXd change = slope_ * moved;
  // The two may cancel: what their rounding may have taken is put back.
  const double size = (start_gap_ + change).norm() + 8.0 * std::numeric_limits<double>::epsilon() *
                                                         (start_gap_.norm() + change.norm());
  double spread = 0.0;
  if (noise_gap_.isZero(0.0)) {
    spread = std::max(0.0, (slope_ * variance).cwiseProduct(slope_).sum());
  } else {
    // x - m = Q L z and grad log p = -Q L^{-T} z, so that the field is -((A - A') Q L + M Q L^{-T}) z and a constant: a
    // sum of squares, of which nothing cancels that should not.
    const Cholesky factor(variance);
    if (factor.info() != Eigen::Success) return kInf;
    const MatrixXd lower = factor.matrixL();
    MatrixXd field = factor.matrixL().solve(noise_gap_.transpose()).transpose();
    if (!slope_.isZero(0.0)) field += slope_ * lower.triangularView<Eigen::Lower>();
    spread = field.squaredNorm();
  }
  const double value = rounded_up_ * (size * size + spread);
  return std::isfinite(value) ? value : kInf;
}

double OuMatchedRate::at(double time) const {
  return in_distribution(distribution_.spectrum().to_eigenbasis(distribution_.displacement(time)),
                         variance(time));
}

double OuMatchedRate::limit() const {
  if (slope_.isZero(0.0) && noise_gap_.isZero(0.0))
    return in_distribution(VectorXd::Zero(slope_.rows()), slope_);
  const LongRunDistribution long_run = distribution_.long_run();
  if (!long_run.distribution) return kInf;
  const Spectrum& spectrum = distribution_.spectrum();
  return in_distribution(
      spectrum.to_eigenbasis(long_run.distribution->mean - distribution_.start().mean),
      spectrum.rotated(long_run.distribution->covariance));
}

/// The same for equal noise, where D_s needs no score and O(d^2) operations.
static OuShiftBound equal_noise_bound(const OuPair& pair, double time, double initial_distance) {
  const OuDriftGap gap(pair.p, pair.start_p, pair.q);
  const double kappa = linear_contraction(pair.q.curvature, pair.p.noise);
  if (gap.vanishes() && initial_distance == 0.0) return {kappa, 0.0};
  const double limit = time == kInf ? std::sqrt(gap.limit()) : kInf;
  return {kappa,
          shift_bound({[&](double s) { return std::sqrt(gap.at(s)); }, gap.time_scale(), limit},
                      kappa, time, initial_distance)};
}

OuShiftBound ou_shift_bound(const OuPair& pair, double time, const Covariance& metric,
                            double initial_distance) {
  const OuMatchedRate rate(pair, metric);
  const double kappa = linear_contraction(pair.q.curvature, metric);
  if (rate.vanishes() && initial_distance == 0.0) return {kappa, 0.0};
  const double limit = time == kInf ? std::sqrt(rate.limit()) : kInf;
  return {kappa,
          shift_bound({[&](double s) { return std::sqrt(rate.at(s)); }, rate.time_scale(), limit},
                      kappa, time, initial_distance)};
}

KlBound matched_process_bound(const OuPair& pair, double time) {
  require_non_negative("time", time);
  if (!is_definite(pair.p.noise) || !is_definite(pair.q.noise)) {
    return no_bound(kMethod, "needs noise in every direction");
  }
  if (difference_is_rounded(pair.p, pair.q)) return no_bound(kMethod, kRoundedDifference);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (time == 0.0) {
    return start < kInf ? kl_bound(start, kMethod) : no_bound(kMethod, kStartsApart);
  }
  double best = kInf;
  const double least = smallest_eigenvalue(pair.q.noise);
  const bool equal_noise = same_matrix(pair.p.noise, pair.q.noise);
  std::vector<Covariance> metrics = {pair.q.noise};
  // The second metric is rarely the better one, and in many dimensions each costs d^3 per time.
  constexpr Index kBothMetrics = 30;
  const bool contracts = linear_contraction(pair.q.curvature, pair.q.noise) > 0.0;
  if (!equal_noise && !isotropic_variance(pair.q.noise) && least > 0.0 &&
      (pair.q.pull.size() <= kBothMetrics || !contracts)) {
    metrics.push_back(Isotropic{least, dimension(pair.q.noise)});
  }
  for (const Covariance& metric : metrics) {
    const auto bound = [&](double distance) {
      return equal_noise ? equal_noise_bound(pair, time, distance).bound
                         : ou_shift_bound(pair, time, metric, distance).bound;
    };
    best = std::min(best, start + bound(0.0));
    if (start > 0.0)
      best = std::min(best, bound(start_distance(pair.start_p, pair.start_q, metric)));
  }
  if (!(best < kInf)) {
    return no_bound(kMethod, time == kInf
                                 ? "the second drift does not contract; ask for a finite time"
                                 : "the rate overflows before that time; ask for less");
  }
  return kl_bound(best, kMethod);
}

std::optional<double> matrix_weight_bound(const OuPair& pair, double time,
                                          const MatrixWeights& weights, const MatrixXd& c_matrix,
                                          const MatrixXd& curvature) {
  require_finite("time", require_positive("time", time));
  const double c = require_positive("c", weights.c);
  const double k = require_positive("k", weights.k);
  const double gamma = require_positive("gamma", weights.gamma);
  if (gamma >= 1.0 && !is_definite(pair.start_p.covariance) &&
      !same_matrix(pair.p.noise, pair.q.noise)) {
    throw InvalidArgument("gamma is 1 though the start has no density and the noises differ",
                          "Take gamma below 1, such as 0.5: the integral is infinite for 1");
  }
  const MatrixXd noise = dense(pair.q.noise);
  const auto u_of = [&](double s) { return std::pow(-std::expm1(-k * s), gamma); };
  const auto a_of = [&](double s) { return std::expm1(k * (time - s)) / k; };
  /// V_s for a given beta and the time at which the factors of C are taken.
  const auto v_of = [&](double beta, double s) -> MatrixXd {
    const double early = gamma / std::expm1(k * s);
    return beta * (2.0 * curvature - k * (1.0 - early) * c_matrix) + 2.0 * noise -
           c * u_of(s) * c_matrix;
  };
  // On a cell V is at least a matrix that is linear in beta, with the factors of C at its right end: the smallest
  // eigenvalue is concave, so that the two ends of beta decide.
  const double margin = 1e-3 * smallest_eigenvalue(pair.q.noise);
  const auto positive = [&](double beta, double right) {
    return SymmetricEigen(v_of(beta, right), SymmetricEigen::Want::values).eigenvalues()(0) >=
           margin;
  };
  const std::function<bool(double, double, int)> proven = [&](double left, double right,
                                                              int halvings) {
    if (positive(c * a_of(right) * u_of(left), right) &&
        positive(c * a_of(left) * u_of(right), right)) {
      return true;
    }
    const double middle = 0.5 * (left + right);
    return halvings < 20 && proven(left, middle, halvings + 1) &&
           proven(middle, right, halvings + 1);
  };
  if (k * time > 300.0 || !proven(0.0, time, 0)) return std::nullopt;

  const OuDistribution distribution(pair.p, pair.start_p);
  const LossDifference gap =
      loss_difference({pair.p.curvature, pair.p.pull, pair.p.given.get()},
                      {pair.q.curvature, pair.q.pull, pair.q.given.get()}, pair.start_p.mean);
  const MatrixXd m = noise_gap(pair.p.noise, pair.q.noise);
  const auto integrand = [&](double root_s) {
    const double s = root_s * root_s;
    if (!(s > 0.0)) return 0.0;
    const Cholesky v(v_of(c * a_of(s) * u_of(s), s));
    const VectorXd centre =
        v.matrixL().solve(gap.at_point + gap.curvature * distribution.displacement(s));
    double value = centre.squaredNorm();
    if (!m.isZero(0.0) || !gap.curvature.isZero(0.0)) {
      const Cholesky variance(dense(distribution.at(s).covariance));
      const MatrixXd lower = variance.matrixL();
      const MatrixXd score = variance.matrixL().solve(m).transpose();
      value += v.matrixL().solve(gap.curvature * lower + score).squaredNorm();
    }
    return 2.0 * root_s * value;
  };
  const double end = std::sqrt(time);
  const double coarse = boost::math::quadrature::gauss<double, 200>::integrate(integrand, 0.0, end);
  const double fine = boost::math::quadrature::gauss<double, 400>::integrate(integrand, 0.0, end);
  if (!(std::abs(fine - coarse) <= 1e-6 * fine)) return std::nullopt;
  return std::max(coarse, fine) * kRoundedUp;
}

}  // namespace sfumato
