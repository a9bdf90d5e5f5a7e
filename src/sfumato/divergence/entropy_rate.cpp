#include "sfumato/divergence/entropy_rate.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/upper_integral.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Cholesky = Eigen::LLT<MatrixXd>;

/// x -> slope (x - m) + centre.
struct AffineField {
  MatrixXd slope;
  VectorXd centre;
};

/// 1/2 E |noise^{-1/2} field|^2 under a distribution with covariance `variance`.
double half_mean_square(const AffineField& field, const MatrixXd& noise, const MatrixXd& variance) {
  const Cholesky factor(noise);
  const MatrixXd slope = factor.matrixL().solve(field.slope);
  const VectorXd centre = factor.matrixL().solve(field.centre);
  const double spread = (slope * variance).cwiseProduct(slope).sum();
  return 0.5 * (centre.squaredNorm() + std::max(spread, 0.0));
}

const char* const kPrimal = "integrated primal entropy rate";
const char* const kDual = "integrated dual entropy rate";
const char* const kMinimum = "integral of the smaller of both entropy rates";

/// The shortest time in which a distribution's covariance changes by a factor: 1/(2|A|), or the smallest
/// start variance against the noise.
double time_scale(const OuDistribution& distribution, const Covariance& noise) {
  double scale = 0.5 / distribution.spectrum().values.cwiseAbs().maxCoeff();
  const MatrixXd start = dense(distribution.start().covariance);
  if (is_definite(noise)) {
    const VectorXd ratio = pencil_eigenvalues(start, dense(noise));
    scale = std::min(scale, std::max(ratio(0), 0.0));
  }
  return scale;
}

}  // namespace

OuEntropyRate::OuEntropyRate(const OuPair& pair)
    : pair_(pair),
      p_(pair.p, pair.start_p),
      q_(pair.q, pair.start_q),
      same_noise_(same_matrix(pair.p.noise, pair.q.noise)),
      definite_p_(is_definite(pair.p.noise)),
      definite_q_(is_definite(pair.q.noise)),
      noise_p_(dense(pair.p.noise)),
      noise_q_(dense(pair.q.noise)) {
  require_size("dimension of q", q_.dimension(), p_.dimension());
  noise_gap_ = noise_q_ - noise_p_;
}

EntropyRate OuEntropyRate::at(double time) const {
  const GaussianDistribution distribution_p = p_.at(time);
  const GaussianDistribution distribution_q = q_.at(time);
  const MatrixXd v_p = dense(distribution_p.covariance);
  const MatrixXd v_q = dense(distribution_q.covariance);
  const VectorXd& mean = distribution_p.mean;
  // b - b' = -(A - A') x + (pull - pull'), the part of Phi and Psi without a score.
  const LossDifference gap =
      loss_difference({pair_.p.curvature, pair_.p.pull, pair_.p.given.get()},
                      {pair_.q.curvature, pair_.q.pull, pair_.q.given.get()}, mean);
  const AffineField drift_gap{-gap.curvature, -gap.at_point};

  EntropyRate rate{std::nullopt, kInf, kInf};
  const bool regular_p = has_full_rank(v_p);
  const bool regular_q = has_full_rank(v_q);
  const auto inverse = [](const MatrixXd& v) {
    return MatrixXd(Cholesky(v).solve(MatrixXd::Identity(v.rows(), v.cols())));
  };
  const MatrixXd inverse_q = regular_q ? inverse(v_q) : MatrixXd();

  AffineField phi = drift_gap;
  if (!same_noise_ && regular_q) {
    phi.slope -= 0.5 * noise_gap_ * inverse_q;
    phi.centre += 0.5 * noise_gap_ * (inverse_q * (distribution_q.mean - mean));
  }
  if (definite_p_ && (same_noise_ || regular_q)) rate.primal = half_mean_square(phi, noise_p_, v_p);
  if (same_noise_) {
    rate.dual = rate.primal;
  } else if (definite_q_ && regular_p) {
    AffineField psi = drift_gap;
    psi.slope -= 0.5 * noise_gap_ * inverse(v_p);
    rate.dual = half_mean_square(psi, noise_q_, v_p);
  }
  if (regular_p && regular_q) {
    // grad log(p/q) = K (x - m) + g
    const MatrixXd k_v = inverse_q * v_p - MatrixXd::Identity(v_p.rows(), v_p.cols());  // K V
    const MatrixXd k = inverse_q - inverse(v_p);
    const VectorXd g = inverse_q * (mean - distribution_q.mean);
    const double product = phi.centre.dot(g) + phi.slope.cwiseProduct(k_v).sum();
    const double square = g.dot(noise_p_ * g) + (k * noise_p_).cwiseProduct(k_v.transpose()).sum();
    rate.exact = product - 0.5 * square;
  }
  return rate;
}

EntropyRateBounds entropy_rate_bounds(const OuPair& pair, double time) {
  require_non_negative("time", time);
  const OuEntropyRate rates(pair);
  const bool same_noise = same_matrix(pair.p.noise, pair.q.noise);
  const bool same_drift = pair.p.curvature == pair.q.curvature && pair.p.pull == pair.q.pull;
  const auto everywhere = [](const std::string& reason) -> EntropyRateBounds {
    return {no_bound(kPrimal, reason), no_bound(kDual, reason), no_bound(kMinimum, reason)};
  };

  const double start = start_kl(pair.start_p, pair.start_q);
  if (start == kInf) return everywhere(kStartsApart);
  if (time == 0.0 || (same_noise && same_drift)) {
    return {kl_bound(start, kPrimal), kl_bound(start, kDual), kl_bound(start, kMinimum)};
  }
  if (!same_noise &&
      (!is_definite(pair.start_p.covariance) || !is_definite(pair.start_q.covariance))) {
    return everywhere(
        "the start is singular (a point) and the noise covariances differ, so the integral of the "
        "rate diverges at time 0; start from a distribution with a density, or bound the discrete "
        "chain");
  }
  if (time == kInf) {
    return everywhere(
        "the rate bounds are not known to vanish as time grows, so their integral diverges; use "
        "the contractive bound, or a finite time");
  }

  const bool definite_p = is_definite(pair.p.noise);
  const bool definite_q = is_definite(pair.q.noise);
  const auto singular = [](const char* method, const char* which) {
    return no_bound(method, fmt::format("the noise covariance of {} is singular and this form "
                                        "inverts it; add noise to the empty directions",
                                        which));
  };
  const auto finite_or = [](const char* method, double value) {
    return finite_kl_bound(value, method, "the rate overflows before that time; ask for less");
  };
  if (same_noise) {  // Phi = Psi = b - b': Spec §6.2, no score
    if (!definite_p) {
      return {singular(kPrimal, "both"), singular(kDual, "both"), singular(kMinimum, "both")};
    }
    const OuDriftGap gap(pair.p, pair.start_p, pair.q);
    const double integral =
        upper_integral([&](double s, double) { return gap.at(s); }, time, {gap.time_scale(), kInf});
    const double value = start + 0.5 * integral;
    return {finite_or(kPrimal, value), finite_or(kDual, value), finite_or(kMinimum, value)};
  }

  std::unordered_map<double, EntropyRate> known;  // the three integrals share most of their nodes
  const auto at = [&](double s) -> const EntropyRate& {
    const auto found = known.find(s);
    return found != known.end() ? found->second : known.emplace(s, rates.at(s)).first->second;
  };
  const double scale = std::min(time_scale(OuDistribution(pair.p, pair.start_p), pair.p.noise),
                                time_scale(OuDistribution(pair.q, pair.start_q), pair.q.noise));
  const auto integrated = [&](const char* method, auto select) {
    return finite_or(method, start + upper_integral([&](double s, double) { return select(at(s)); },
                                                    time, {scale, kInf}));
  };
  KlBound primal = definite_p ? integrated(kPrimal, [](const EntropyRate& r) { return r.primal; })
                              : singular(kPrimal, "the first process");
  KlBound dual = definite_q ? integrated(kDual, [](const EntropyRate& r) { return r.dual; })
                            : singular(kDual, "the second process");
  KlBound both =
      definite_p || definite_q
          ? integrated(kMinimum, [](const EntropyRate& r) { return std::min(r.primal, r.dual); })
          : singular(kMinimum, "either process");
  // The quadrature of the kinked minimum may be the less accurate one.
  for (const KlBound* other : {&primal, &dual}) {
    if (other->kl.value < both.kl.value) both.kl.value = other->kl.value;
  }
  return {std::move(primal), std::move(dual), std::move(both)};
}

}  // namespace sfumato
