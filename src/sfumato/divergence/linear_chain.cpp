#include "sfumato/divergence/linear_chain.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/chain_gap.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/minimise.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/precise/careful.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const char* const kPath = "chain rule over all steps";
const char* const kContractive = "contractive chain";
// The second form sums its gaps one by one; 2e6 is about a tenth of a second.
constexpr double kSecondFormWork = 2e6;

/// d_j^2 = E_{p_j} |T(x_j) - T'(x_j)|_S^2 and its weighted sums, S being the metric given.
///
/// In the eigenbasis of A and centred at m_0, y = Q^T (x - m_0), the vector (y, 1) has the second
/// moments P_j with P_{j+a} = F_a P_j F_a^T + N_a, where F_a = [diag(r^a), move_a; 0, 1] and N_a
/// are geometric sums, and d_j^2 = tr(W P_j). So sum_{j<a} c^{a-1-j} d_j^2 is tr(Z_a P_0) + s_a,
/// and
///
///   Z_{a+b} = c^b Z_a + F_a^T Z_b F_a,    s_{a+b} = c^b s_a + s_b + tr(Z_b N_a)
///
/// doubles a with O(d^2) work. All terms are positive semi-definite: nothing cancels.
class StepGap {
 public:
  StepGap(const LinearChainPair& pair, const Covariance& metric)
      : distribution_(pair.p, pair.start_p),
        speed_(pair.p.learning_rate * distribution_.spectrum().values) {
    // T(x) - T'(x) = -(M x - c)
    const LossDifference gap =
        loss_difference({pair.p.curvature, pair.p.pull, pair.p.given.get(), pair.p.learning_rate},
                        {pair.q.curvature, pair.q.pull, pair.q.given.get(), pair.q.learning_rate},
                        pair.start_p.mean);
    const MatrixXd& difference = gap.curvature;
    vanishes_ = difference.isZero(0.0) && gap.pull.isZero(0.0);
    rounded_up_ = rounding_of_metric(metric);
    const Index d = distribution_.dimension();
    MatrixXd root(d, d + 1);
    const Spectrum& spectrum = distribution_.spectrum();
    root.leftCols(d) =
        spectrum.is_diagonal() ? difference : MatrixXd(difference * spectrum.vectors);
    root.col(d) = gap.at_point;
    root = Eigen::LLT<MatrixXd>(dense(metric)).matrixL().solve(root);
    root_ = root;
    weight_ = root.transpose() * root;
    force_ = spectrum.to_eigenbasis(distribution_.displacement(1.0));
    noise_ = spectrum.rotated(pair.p.step_noise);
    spread_ = spectrum.rotated(pair.start_p.covariance);
  }

  /// Both steps are the same function.
  [[nodiscard]] bool vanishes() const { return vanishes_; }

  /// d_j^2.
  [[nodiscard]] double at(double steps) const {
    const Index d = speed_.size();
    VectorXd mean(d + 1);
    for (Index i = 0; i < d; ++i) mean(i) = moved(i, steps);
    mean(d) = 1.0;
    double spread = 0.0;
    const VectorXd power = powers(steps);
    for (Index j = 0; j < d; ++j) {
      for (Index i = j; i < d; ++i) {
        const double variance =
            noise_(i, j) * accumulated(i, j, steps) + spread_(i, j) * power(i) * power(j);
        spread += (i == j ? 1.0 : 2.0) * weight_(i, j) * variance;
      }
    }
    return rounded_up_ * (mean_gap(mean) + std::max(spread, 0.0));
  }

  /// The limit of d_j^2, +inf if there is none.
  [[nodiscard]] double limit() const {
    const Index d = speed_.size();
    const LongRunDistribution long_run = distribution_.long_run();
    if (!long_run.distribution) {
      return weight_.topLeftCorner(d, d).isZero(0.0) ? rounded_up_ * weight_(d, d) : kInf;
    }
    VectorXd mean(d + 1);
    mean.head(d) = distribution_.spectrum().to_eigenbasis(long_run.distribution->mean -
                                                          distribution_.start().mean);
    mean(d) = 1.0;
    const double spread =
        weight_.topLeftCorner(d, d)
            .cwiseProduct(distribution_.spectrum().rotated(long_run.distribution->covariance))
            .sum();
    return rounded_up_ * (mean_gap(mean) + std::max(spread, 0.0));
  }

  /// sum_{j<k} c^{k-1-j} d_j^2 for finite k.
  [[nodiscard]] double weighted_sum(double c, double steps) const {
    const Index d = speed_.size();
    // The blocks of the binary digits of k, the lowest first in time.
    Sum block{weight_, 0.0, 1.0};
    Sum total{MatrixXd::Zero(d + 1, d + 1), 0.0, 0.0};
    for (double left = steps; left > 0.0; left = std::floor(0.5 * left)) {
      if (std::fmod(left, 2.0) == 1.0) total = after(total, block, c);
      if (left > 1.0) block = after(block, block, c);
    }
    const double start = total.z.topLeftCorner(d, d).cwiseProduct(spread_).sum();
    const double sum = std::max(start, 0.0) + total.z(d, d) + total.s;
    // The means of the gaps may cancel: what rounding may have taken of each is put back.
    VectorXd farthest(d + 1);
    for (Index i = 0; i < d; ++i) {
      farthest(i) = std::max(std::fabs(moved(i, 1.0)), std::fabs(moved(i, steps)));
    }
    farthest(d) = 1.0;
    const double weights = c == 1.0 ? steps : std::min(steps, 1.0 / (1.0 - c));
    const double size = std::sqrt(sum) + rounding_at(farthest) * std::sqrt(weights);
    return rounded_up_ * size * size;
  }

 private:
  /// What the rounding of |root_ (y, 1)| may be.
  [[nodiscard]] double rounding_at(const VectorXd& mean) const {
    return 8.0 * std::numeric_limits<double>::epsilon() *
           (root_.cwiseAbs() * mean.cwiseAbs()).norm();
  }
  /// |root_ (y, 1)|^2, rounded up: its parts may cancel.
  [[nodiscard]] double mean_gap(const VectorXd& mean) const {
    const double size = (root_ * mean).norm() + rounding_at(mean);
    return size * size;
  }

  struct Sum {
    MatrixXd z;
    double s;
    double steps;
  };

  /// The sum over `first.steps` steps followed by `second.steps` more.
  [[nodiscard]] Sum after(const Sum& first, const Sum& second, double c) const {
    const double a = first.steps;
    if (a == 0.0) return second;
    const Index d = speed_.size();
    const double forget = std::pow(c, second.steps);
    // F_a^T Z F_a with F_a = [diag(r), move; 0, 1].
    const VectorXd power = powers(a);
    VectorXd move(d + 1);
    for (Index i = 0; i < d; ++i) move(i) = moved(i, a);
    move(d) = 1.0;
    const VectorXd column = second.z * move;
    MatrixXd z = forget * first.z;
    z.topLeftCorner(d, d) += power.asDiagonal() * second.z.topLeftCorner(d, d) * power.asDiagonal();
    const VectorXd mixed = power.cwiseProduct(column.head(d));
    z.col(d).head(d) += mixed;
    z.row(d).head(d) += mixed.transpose();
    z(d, d) += std::max(move.dot(column), 0.0);
    double noise = 0.0;
    for (Index j = 0; j < d; ++j) {
      for (Index i = j; i < d; ++i) {
        noise += (i == j ? 1.0 : 2.0) * second.z(i, j) * noise_(i, j) * accumulated(i, j, a);
      }
    }
    return {std::move(z), forget * first.s + second.s + std::max(noise, 0.0), a + second.steps};
  }

  [[nodiscard]] VectorXd powers(double steps) const {
    VectorXd power(speed_.size());
    for (Index i = 0; i < speed_.size(); ++i) power(i) = power_of_complement(speed_(i), steps);
    return power;
  }
  [[nodiscard]] double moved(Index i, double steps) const {
    return force_(i) == 0.0 ? 0.0 : force_(i) * geometric_sum(speed_(i), steps);
  }
  [[nodiscard]] double accumulated(Index i, Index j, double steps) const {
    return geometric_sum(speed_(i) + speed_(j) - speed_(i) * speed_(j), steps);
  }

  ChainDistribution distribution_;
  bool vanishes_;
  double rounded_up_;  ///< for the rounding of S^{-1/2}
  VectorXd speed_;     ///< eta l_i
  VectorXd force_;     ///< Q^T (m_1 - m_0)
  MatrixXd root_;      ///< S^{-1/2} [M Q, M m_0 - c]
  MatrixXd weight_;    ///< W = root^T root
  MatrixXd noise_;
  MatrixXd spread_;
};

const char* const kSingular = "the step noise is singular; add noise to the empty directions";
const char* const kOverflow = "the gap between the steps overflows; ask for fewer steps";

void require_pair(const LinearChainPair& pair, const Where& where) {
  const ChainDistribution check(pair.q, pair.start_q);
  require_size("dimension of q", check.dimension(), pair.p.pull.size(), where);
}

std::string contractive_obstacle(const LinearChainPair& pair, double start) {
  if (start == kInf) return kStartsApart;
  if (!same_matrix(pair.p.step_noise, pair.q.step_noise)) {
    return "the step noises differ; use the chain rule";
  }
  if (!is_definite(pair.p.step_noise)) return kSingular;
  return {};
}

double first_form(const StepGap& gap, double c, double steps) {
  const double sum = gap.weighted_sum(c, steps);
  return 0.5 * (1.0 + c) / (1.0 + std::pow(c, steps)) * (std::isfinite(sum) ? sum : kInf);
}

/// The limit of the first form: the geometric weights see only the limit of the gaps.
KlBound first_form_limit(const StepGap& gap, double c, double start) {
  if (gap.vanishes()) return kl_bound(start, kContractive);
  const double limit = gap.limit();
  if (c < 1.0 && limit < kInf) {
    return kl_bound(start + 0.5 * (1.0 + c) / (1.0 - c) * limit, kContractive);
  }
  return no_bound(kContractive, c < 1.0
                                    ? "the gap between the steps has no finite limit; ask for a "
                                      "finite number of steps"
                                    : "the second step does not contract; ask for a finite number "
                                      "of steps");
}

}  // namespace

Claimed<Nats> exact_kl(const LinearChainPair& pair, double steps) {
  return gaussian_kl(whiten_at(ChainDistribution(pair.p, pair.start_p),
                               ChainDistribution(pair.q, pair.start_q), steps));
}

KlBound path_kl(const LinearChainPair& pair, double steps) {
  const Where where = Where::here();
  require_steps(steps, where);
  require_pair(pair, where);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (start == kInf) return no_bound(kPath, kStartsApart);
  const bool same_noise = same_matrix(pair.p.step_noise, pair.q.step_noise);
  const bool same_step = pair.p.curvature == pair.q.curvature && pair.p.pull == pair.q.pull &&
                         pair.p.learning_rate == pair.q.learning_rate &&
                         pair.p.given == pair.q.given;
  if (steps == 0.0 || (same_noise && same_step)) return kl_bound(start, kPath);
  if (!is_definite(pair.q.step_noise)) return no_bound(kPath, kSingular);
  const StepGap gap(pair, pair.q.step_noise);
  if (same_noise && gap.vanishes()) return kl_bound(start, kPath);
  const VectorXd origin = VectorXd::Zero(pair.p.pull.size());
  const double scale =
      same_noise ? 0.0
                 : gaussian_kl(whiten({origin, pair.p.step_noise}, {origin, pair.q.step_noise}))
                       .value.value();
  if (scale == kInf) return no_bound(kPath, kSingular);
  if (steps == kInf) {
    return no_bound(kPath,
                    "the steps differ for ever, so the KL of the paths grows without bound; "
                    "use the contractive bound, or a finite number of steps");
  }
  const double sum = gap.weighted_sum(1.0, steps);
  return finite_kl_bound(std::isfinite(sum) ? start + steps * scale + 0.5 * sum : kInf, kPath,
                         kOverflow);
}

KlBound chain_contractive_bound(const LinearChainPair& pair, double lipschitz, double steps) {
  const Where where = Where::here();
  require_probability("lipschitz", lipschitz, where);
  require_steps(steps, where);
  require_pair(pair, where);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (const std::string why = contractive_obstacle(pair, start); !why.empty()) {
    return no_bound(kContractive, why);
  }
  const StepGap gap(pair, pair.p.step_noise);
  if (steps == kInf) return first_form_limit(gap, lipschitz, start);
  return finite_kl_bound(start + first_form(gap, lipschitz, steps), kContractive, kOverflow);
}

ChainContractiveBound best_contractive_bound(const LinearChainPair& pair, double steps) {
  const Where where = Where::here();
  require_steps(steps, where);
  require_pair(pair, where);
  const double start = start_kl(pair.start_p, pair.start_q);
  if (const std::string why = contractive_obstacle(pair, start); !why.empty()) {
    return {no_bound(kContractive, why), 1.0, 1.0};
  }
  const double lipschitz =
      linear_step_lipschitz(pair.q.curvature, pair.q.learning_rate, pair.p.step_noise);
  const double lowest = std::min(lipschitz, 1.0);
  const StepGap gap(pair, pair.p.step_noise);
  ChainContractiveBound result{kl_bound(start, kContractive), lipschitz, lowest};
  if (steps == kInf) {
    result.bound = first_form_limit(gap, lowest, start);
  } else if (!gap.vanishes()) {
    LeastValue best = minimise([&](double c) { return first_form(gap, c, steps); }, lowest, 1.0);
    const auto d = static_cast<double>(pair.p.pull.size());
    if (steps * d * d <= kSecondFormWork) {
      std::vector<double> gaps(static_cast<std::size_t>(steps));
      for (std::size_t j = 0; j < gaps.size(); ++j)
        gaps[j] = std::sqrt(gap.at(static_cast<double>(j)));
      const bool finite =
          std::all_of(gaps.begin(), gaps.end(), [](double g) { return std::isfinite(g); });
      const auto second = finite ? chain_bound_second_form(gaps, lowest) : std::nullopt;
      if (second && *second < best.value) best = {lowest, *second};
    }
    result.bound = finite_kl_bound(start + best.value, kContractive, kOverflow);
    result.used = best.at;
  }
  if (lipschitz > 1.0) {
    result.bound.kl.assumptions.push_back(fmt::format(
        "the second step is not contractive in the metric of the noise (constant {:.6g}); "
        "constant 1 is used, which is the chain rule",
        lipschitz));
  }
  return result;
}

}  // namespace sfumato
