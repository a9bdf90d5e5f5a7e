#include "sfumato/divergence/ou_pair.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

WhitenedPair distributions_at(const OuPair& pair, double time) {
  WhitenedPair distributions =
      whiten_at(OuDistribution(pair.p, pair.start_p), OuDistribution(pair.q, pair.start_q), time);
  const bool lost = distributions.mutually_singular || distributions.used_rank_tolerance;
  if (lost && time > 0.0 && is_definite(pair.p.noise) && is_definite(pair.q.noise)) {
    throw NumericalFailure(
        "some variances are below the rounding of others, so that double precision cannot compare "
        "the distributions",
        "Rescale the parameters, or ask for an earlier time", Where::here("exact distributions"));
  }
  return distributions;
}

Claimed<Nats> exact_kl(const OuPair& pair, double time) {
  return gaussian_kl(distributions_at(pair, time));
}

double start_kl(const GaussianDistribution& p, const GaussianDistribution& q) {
  if (same_distribution(p, q)) return 0.0;
  return gaussian_kl(whiten(p, q)).value.value();
}

OuDriftGap::OuDriftGap(const OuProcess& p, const GaussianDistribution& start, const OuProcess& q)
    : distribution_(p, start) {
  const Where where = Where::here();
  require_size("curvature of q", q.curvature.rows(), distribution_.dimension(), where);
  require_size("pull of q", q.pull.size(), distribution_.dimension(), where);
  if (!is_definite(p.noise)) {
    throw NumericalFailure("the noise covariance is singular",
                           "Add noise to the directions that have none", where);
  }
  const LossDifference gap = loss_difference({p.curvature, p.pull, p.given.get()},
                                             {q.curvature, q.pull, q.given.get()}, start.mean);
  const MatrixXd& difference = gap.curvature;
  constant_ = difference.isZero(0.0);
  const Eigen::LLT<MatrixXd> noise(dense(p.noise));
  rounded_up_ = rounding_of_metric(p.noise);
  start_gap_ = noise.matrixL().solve(gap.at_point);
  const Spectrum& spectrum = distribution_.spectrum();
  if (constant_) return;
  root_ = noise.matrixL().solve(spectrum.is_diagonal() ? difference
                                                       : MatrixXd(difference * spectrum.vectors));
  weight_ = root_.transpose() * root_;
  force_ = spectrum.to_eigenbasis(p.pull - p.curvature * start.mean);
  noise_ = spectrum.rotated(p.noise);
  spread_ = spectrum.rotated(start.covariance);
}

double OuDriftGap::at(double time) const {
  require_non_negative("time", time);
  if (constant_) return rounded_up_ * start_gap_.squaredNorm();
  const VectorXd& rates = distribution_.spectrum().values;
  VectorXd moved(rates.size());
  for (Index i = 0; i < rates.size(); ++i) moved(i) = force_(i) * phi1(rates(i), time);
  double spread = 0.0;
  for (Index j = 0; j < rates.size(); ++j) {
    for (Index i = j; i < rates.size(); ++i) {
      const double rate = rates(i) + rates(j);
      const double variance =
          noise_(i, j) * phi1(rate, time) + spread_(i, j) * std::exp(-rate * time);
      spread += (i == j ? 1.0 : 2.0) * weight_(i, j) * variance;
    }
  }
  const double value = rounded_up_ * (mean_gap(moved) + std::max(spread, 0.0));
  return std::isfinite(value) ? value : kInf;
}

double OuDriftGap::mean_gap(const VectorXd& moved) const {
  const VectorXd change = root_ * moved;
  // The two may cancel: what their rounding may have taken is put back.
  const double rounding = 8.0 * std::numeric_limits<double>::epsilon() *
                          (start_gap_.norm() + (root_.cwiseAbs() * moved.cwiseAbs()).norm());
  const double size = (start_gap_ + change).norm() + rounding;
  return size * size;
}

double OuDriftGap::limit() const {
  if (constant_) return rounded_up_ * start_gap_.squaredNorm();
  const LongRunDistribution long_run = distribution_.long_run();
  if (!long_run.distribution) return kInf;
  const Spectrum& spectrum = distribution_.spectrum();
  const VectorXd moved =
      spectrum.to_eigenbasis(long_run.distribution->mean - distribution_.start().mean);
  const MatrixXd variance = spectrum.rotated(long_run.distribution->covariance);
  return rounded_up_ * (mean_gap(moved) + std::max(0.0, weight_.cwiseProduct(variance).sum()));
}

double OuDriftGap::time_scale() const {
  return 0.5 / distribution_.spectrum().values.cwiseAbs().maxCoeff();
}

}  // namespace sfumato
