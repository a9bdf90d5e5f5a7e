#include "sfumato/divergence/matched_chain.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/divergence/shift_bound.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Cholesky = Eigen::LLT<MatrixXd>;

const char* const kMethod = "matched process, steps";
constexpr double kMostCells = 1e6;
constexpr double kForgotten = 1e-130;  // of a distance: its square is still a number

/// d_k and M_k of Spec §27.9 (1), in the metric of S'.
class StepLengths {
 public:
  explicit StepLengths(const LinearChainPair& pair)
      : distribution_(pair.p, pair.start_p),
        noise_root_(dense(pair.p.step_noise)),
        metric_(dense(pair.q.step_noise)) {
    if (!is_definite(pair.p.step_noise) || !is_definite(pair.q.step_noise)) {
      throw NumericalFailure("a step noise is singular",
                             "Add noise to the directions that have none", Where::here(kMethod));
    }
    const LossDifference gap =
        loss_difference({pair.p.curvature, pair.p.pull, pair.p.given.get(), pair.p.learning_rate},
                        {pair.q.curvature, pair.q.pull, pair.q.given.get(), pair.q.learning_rate},
                        pair.start_p.mean);
    slope_ = metric_.matrixL().solve(gap.curvature);
    start_gap_ = metric_.matrixL().solve(gap.at_point);
    const Index d = distribution_.dimension();
    step_ = MatrixXd::Identity(d, d) - pair.p.learning_rate * pair.p.curvature;
    const MatrixXd m = same_matrix(pair.p.step_noise, pair.q.step_noise)
                           ? MatrixXd::Zero(d, d)
                           : MatrixXd(0.5 * (dense(pair.q.step_noise) - dense(pair.p.step_noise)));
    // M R^{-T} in the metric: P in coordinates in which S is I.
    const MatrixXd scaled_gap = noise_root_.matrixL().solve(m).transpose();
    score_ = metric_.matrixL().solve(scaled_gap);
    rounded_up_ = rounding_of_metric(pair.q.step_noise);
  }

  /// d_k^2.
  [[nodiscard]] double squared_gap(const GaussianDistribution& distribution, double k) const {
    const VectorXd moved = slope_ * distribution_.displacement(k);
    const double size = (start_gap_ + moved).norm() + 2e-15 * (start_gap_.norm() + moved.norm());
    const double spread = (slope_ * dense(distribution.covariance)).cwiseProduct(slope_).sum();
    return rounded_up_ * (size * size + std::max(0.0, spread));
  }

  /// M_k: the distance that the noise of the step adds, as its Fisher information falls from that of T(X_k).
  [[nodiscard]] double noise_length(const GaussianDistribution& distribution) const {
    if (score_.isZero(0.0)) return 0.0;
    const MatrixXd half =
        noise_root_.matrixL().solve(step_ * dense(distribution.covariance) * step_.transpose());
    const MatrixXd before = noise_root_.matrixL().solve(half.transpose());
    const SymmetricEigen eigen(0.5 * (before + before.transpose()));
    const VectorXd weight = (score_ * eigen.eigenvectors()).colwise().squaredNorm();
    const double rounding =
        1e-15 * static_cast<double>(before.rows()) * eigen.eigenvalues().cwiseAbs().maxCoeff();
    const VectorXd value = (eigen.eigenvalues().array() - rounding).cwiseMax(0.0);
    // v = r^2; the integrand bends wherever v passes an eigenvalue, so the panels grow by 4.
    double sum = 0.0;
    double high = 1.0;
    for (int j = 0; j <= 20; ++j) {
      const double low = 0.25 * high;
      sum += boost::math::quadrature::gauss<double, 8>::integrate(
          [&](double r) {
            return 2.0 * r * std::sqrt((weight.array() / (value.array() + r * r)).sum());
          },
          low, high);
      high = low;
    }
    // Below the last panel the noise of the step alone: sqrt(sum weight) / r.
    return rounded_up_ * (sum + 2.0 * high * std::sqrt(weight.sum()));
  }

  /// More than any M_k.
  [[nodiscard]] double largest_noise_length() const { return 2.0 * rounded_up_ * score_.norm(); }

  [[nodiscard]] const ChainDistribution& distribution() const { return distribution_; }

 private:
  ChainDistribution distribution_;
  Cholesky noise_root_;
  Cholesky metric_;
  MatrixXd slope_;
  VectorXd start_gap_;
  MatrixXd step_;
  MatrixXd score_;
  double rounded_up_ = 1.0;
};

}  // namespace

ChainUnequalBound chain_unequal_bound(const LinearChainPair& pair, double steps) {
  require_steps(steps);
  if (!(steps <= kMostCells)) {
    throw InvalidArgument("too many steps for a bound that looks at each",
                          "Ask for at most a million, or for the flow", Where::here(kMethod));
  }
  const StepLengths lengths(pair);
  const auto n = static_cast<std::size_t>(steps);
  const double c =
      linear_step_lipschitz(pair.q.curvature, pair.q.learning_rate, pair.q.step_noise) *
      (1.0 + 1e-14);
  const VectorXd origin = VectorXd::Zero(lengths.distribution().dimension());
  const double noise_kl =
      gaussian_kl(whiten(origin, pair.p.step_noise, origin, pair.q.step_noise)).value.value();
  // Factors c^{n-1-k}: of the last step where the chain contracts, of the first where it does not.
  const double log_c = std::log(std::max(c, 1e-300));
  const auto weight = [&](std::size_t k) {
    const double left = static_cast<double>(n - 1 - k), done = static_cast<double>(k);
    return std::exp(log_c <= 0.0 ? log_c * left : -log_c * done);
  };
  std::vector<double> length(n), exact(n);
  for (std::size_t k = 0; k < n; ++k) {
    const GaussianDistribution distribution = lengths.distribution().at(static_cast<double>(k));
    const double squared = lengths.squared_gap(distribution, static_cast<double>(k));
    const bool forgotten = weight(k) < kForgotten;
    length[k] = std::sqrt(squared) +
                (forgotten ? lengths.largest_noise_length() : lengths.noise_length(distribution));
    exact[k] = noise_kl + 0.5 * squared;
  }
  const auto hull_from = [&](std::size_t first) {
    std::vector<double> tau, rise;
    double carried = 0.0;
    for (std::size_t k = first; k < n; ++k) {
      const double w = weight(k);
      if (w < kForgotten && log_c <= 0.0) {
        carried += w * length[k];
      } else if (w < kForgotten) {
        // A chain that does not contract forgets nothing of the end: each step pays for itself.
        return kInf;
      } else {
        tau.push_back(w * w);
        rise.push_back(w * length[k]);
      }
    }
    return tau.empty() ? 0.0 : shift_hull(tau, rise, carried).bound;
  };
  ChainUnequalBound result{c, hull_from(0), 0.0, 0.0};
  result.best = result.hull;
  double paid = 0.0;
  std::size_t next = 1;
  for (std::size_t k = 0; k < n; ++k) {
    paid += exact[k];
    if (k + 1 != next && k + 1 != n) continue;
    if (k + 1 == next) next *= 2;
    const double value = paid + hull_from(k + 1);
    if (value < result.best) {
      result.best = value;
      result.split = static_cast<double>(k + 1);
    }
  }
  return result;
}

KlBound matched_chain_bound(const LinearChainPair& pair, double steps) {
  require_steps(steps);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (start == kInf) return no_bound(kMethod, kStartsApart);
  if (steps == 0.0) return kl_bound(start, kMethod);
  if (!(steps <= kMostCells)) {
    return no_bound(kMethod, "looks at every step: ask for at most a million");
  }
  if (!is_definite(pair.p.step_noise) || !is_definite(pair.q.step_noise)) {
    return no_bound(kMethod, "needs noise in every direction");
  }
  return finite_kl_bound(start + chain_unequal_bound(pair, steps).best, kMethod,
                         "the gap between the steps overflows; ask for fewer steps");
}

}  // namespace sfumato
