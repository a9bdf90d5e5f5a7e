#include "sfumato/divergence/logistic_pair.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fisher_box.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/shift_bound.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const char* const kMethod = "matched process, from constants";
constexpr Index kMostParameters = 200;  // eigenproblems of twice the size, some hundred of them
constexpr double kUp = 1.0 + 1e-12;     // rounding of sums of positive terms

/// N >= S^{-1}, as W^T W with W L = I, enlarged by its rounding.
MatrixXd precision_of(const Covariance& metric) {
  const Eigen::LLT<MatrixXd> root(dense(metric));
  const Index d = dimension(metric);
  const MatrixXd inverse = root.matrixL().solve(MatrixXd::Identity(d, d));
  const double rounding = kUp * std::pow(rounding_of_metric(metric), 4);
  return rounding * inverse.transpose() * inverse;
}

/// delta^2 = min( e_sup + tr(P J), (sup |a|_N + sqrt(tr(P J)))^2 ) in one metric.
struct Rate {
  double kappa;
  MatrixXd weight;          ///< P = M N M
  double drift_norm;        ///< sup |a|_N
  double divergence = 0.0;  ///< sup of -2 tr(M N Da)

  [[nodiscard]] double delta(double fisher) const {
    const double sum = drift_norm + std::sqrt(fisher);
    return std::sqrt(std::min(drift_norm * drift_norm + divergence + fisher, sum * sum)) * kUp;
  }
};

Rate rate_in(const Covariance& metric, double kappa, const MatrixXd& gap, double scale,
             const std::vector<LogisticRecord>& records) {
  const MatrixXd precision = precision_of(metric);
  Rate rate{kappa, gap * precision * gap, 0.0};
  for (const LogisticRecord& record : records) {
    const VectorXd& x = record.features;
    // |s - y| <= 1, and s' lies in [0, 1/4]: -2 tr(M N Da) = +-2 c s' x^T M N x.
    rate.drift_norm += scale * std::sqrt(x.dot(precision * x)) * kUp;
    const double cross = x.dot(gap * (precision * x)), size = gap.norm() * precision.norm();
    const double rounding = 1e-14 * static_cast<double>(x.size()) * size * x.squaredNorm();
    rate.divergence += 0.5 * scale * std::max(0.0, (record.in_first ? cross : -cross) + rounding);
  }
  return rate;
}

std::vector<Rate> rates_of(const LogisticFlow& q, const MatrixXd& gap, double scale, double ridge,
                           const std::vector<LogisticRecord>& records) {
  const RowContraction own = row_contraction(q.problem->features(), scale, ridge, q.noise);
  // Eigenvalues of products are off by their rounding.
  const double kappa =
      own.kappa - 1e-13 * (std::abs(own.kappa) + own.upper) * rounding_of_metric(q.noise);
  std::vector<Rate> rates = {rate_in(q.noise, kappa, gap, scale, records)};
  if (isotropic_variance(q.noise)) {
    rates.front().kappa = ridge;
    return rates;
  }
  const Spectrum spectrum = spectrum_of(dense(q.noise));
  const double least =
      spectrum.values.minCoeff() - (spectrum.is_diagonal() ? 0.0 : rounding_of(spectrum));
  if (least > 0.0) {
    rates.push_back(rate_in(Isotropic{least, dimension(q.noise)}, ridge, gap, scale, records));
  }
  return rates;
}

}  // namespace

KlBound logistic_constants_bound(const LogisticFlow& p, const LogisticFlow& q,
                                 const std::vector<LogisticRecord>& records,
                                 const GaussianDistribution& start, double time) {
  require_non_negative("time", time);
  const Index d = p.problem->parameters();
  if (p.problem->is_softmax() || q.problem->is_softmax()) {
    throw InvalidArgument("the model is not logistic regression", "Give two classes");
  }
  require_size("the second problem", q.problem->parameters(), d);
  require_size("the first noise", dimension(p.noise), d);
  require_size("the second noise", dimension(q.noise), d);
  require_size("start", start.mean.size(), d);
  if (!is_definite(p.noise) || !is_definite(q.noise)) {
    return no_bound(kMethod, "needs noise in every direction");
  }
  if (d > kMostParameters) return no_bound(kMethod, "takes too long with more than 200 parameters");
  const auto [scale, ridge] = p.problem->weights();
  const MatrixXd gap = same_matrix(p.noise, q.noise)
                           ? MatrixXd::Zero(d, d)
                           : MatrixXd(0.5 * (dense(q.noise) - dense(p.noise)));
  // The upper end of the Hessian is rounded up, its lower one is the ridge.
  const MatrixXd& features = p.problem->features();
  const MatrixXd gram = 0.25 * scale * kUp * (features.transpose() * features);
  const MatrixXd lower = ridge * MatrixXd::Identity(d, d);
  const MatrixXd upper =
      lower + gram +
      1e-15 * static_cast<double>(features.rows()) * gram.norm() * MatrixXd::Identity(d, d);
  const FisherInformation fisher =
      is_definite(start.covariance)
          ? FisherInformation(solve(start.covariance, MatrixXd::Identity(d, d)))
          : std::nullopt;
  double best = kInf;
  std::string reason = "the second drift is not proven to contract; ask for a finite time";
  for (const Rate& rate : rates_of(q, gap, scale, ridge, records)) {
    if (rate.weight.isZero(0.0)) {
      best = std::min(best,
                      shift_bound({[&](double) { return rate.delta(0.0); }, kInf, rate.delta(0.0)},
                                  rate.kappa, time));
      continue;
    }
    const MatrixXd spread =
        hessian_spread(lower, upper, p.noise).spread * kUp * rounding_of_metric(p.noise);
    best =
        std::min(best, best_flow_bound(
                           -0.5 * (lower + upper), spread, p.noise, rate.weight,
                           [&](const FisherFlow& flow) {
                             return flow_shift_bound(
                                 flow, fisher, p.noise, rate.weight, kInf,
                                 [&](double, double j) { return rate.delta(j); }, rate.kappa, time);
                           },
                           reason));
  }
  return best < kInf ? kl_bound(best, kMethod) : no_bound(kMethod, reason);
}

}  // namespace sfumato
