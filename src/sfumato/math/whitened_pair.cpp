#include "sfumato/math/whitened_pair.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <optional>
#include <vector>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRankTolerance = 1e-12;  // Spec §2
constexpr double kRangeTolerance = 1e-9;  // of a unit vector outside the common range
constexpr double kSmallRatio = 0.5;       // below it 1 + excess loses digits

WhitenedPair singular_pair() {
  WhitenedPair pair;
  pair.mutually_singular = true;
  return pair;
}

WhitenedPair whiten_diagonal(const VectorXd& difference, const VectorXd& p, const VectorXd& q) {
  std::vector<Index> kept;
  for (Index i = 0; i < p.size(); ++i) {
    if (p(i) == 0.0 && q(i) == 0.0) {
      if (difference(i) != 0.0) return singular_pair();
    } else if (p(i) == 0.0 || q(i) == 0.0) {
      return singular_pair();
    } else {
      kept.push_back(i);
    }
  }
  const auto count = static_cast<Index>(kept.size());
  WhitenedPair pair{false, false, ArrayXd(count), ArrayXd(count), ArrayXd(count)};
  for (Index k = 0; k < count; ++k) {
    const Index i = kept[static_cast<std::size_t>(k)];
    pair.excess(k) = (q(i) - p(i)) / p(i);
    pair.ratio(k) = q(i) / p(i);
    pair.shift(k) = difference(i) / std::sqrt(p(i));
  }
  return pair;
}

/// p positive definite. Eigenvalues of R^-1 (q - p) R^-T are the excesses themselves, so nearly
/// equal covariances keep their digits; where the ratio is small 1 + excess would cancel, and the
/// Rayleigh quotient of R^-1 q R^-T is used.
WhitenedPair diagonalise(const VectorXd& difference, const MatrixXd& p, const MatrixXd& q) {
  const Eigen::LLT<MatrixXd> llt(p);
  if (llt.info() != Eigen::Success) {
    throw NumericalFailure("the first covariance is too ill-conditioned to factor",
                           "Rescale the parameters or drop directions without noise",
                           Where::in("whiten"));
  }
  const auto conjugate = [&llt](const MatrixXd& m) -> MatrixXd {
    const MatrixXd half = llt.matrixL().solve(m);
    const MatrixXd full = llt.matrixL().solve(half.transpose());
    return 0.5 * (full + full.transpose());
  };
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(conjugate(q - p));
  const MatrixXd& vectors = eigen.eigenvectors();
  const VectorXd quotients =
      vectors.cwiseProduct(conjugate(q) * vectors).colwise().sum().transpose();

  WhitenedPair pair;
  pair.excess = eigen.eigenvalues().array();
  pair.ratio = 1.0 + pair.excess;
  for (Index i = 0; i < pair.ratio.size(); ++i) {
    if (pair.excess(i) > kSmallRatio - 1.0) continue;
    pair.ratio(i) = quotients(i);
    pair.excess(i) = quotients(i) - 1.0;
  }
  if ((pair.ratio <= 0.0).any()) {
    throw NumericalFailure("the second covariance is singular to rounding relative to the first",
                           "Rescale the parameters or drop directions without noise",
                           Where::in("whiten"));
  }
  pair.shift = (vectors.transpose() * llt.matrixL().solve(difference)).array();
  return pair;
}

/// Orthonormal basis of the directions in which a unit-scaled covariance has variance.
MatrixXd range_of(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
  const double cut = kRankTolerance * std::max(0.0, eigen.eigenvalues().maxCoeff());
  const Index rank = (eigen.eigenvalues().array() > cut).count();
  return eigen.eigenvectors().rightCols(rank);  // eigenvalues ascend
}

WhitenedPair whiten_dense(const VectorXd& difference, const MatrixXd& p, const MatrixXd& q) {
  // Unit variances first: a tolerance on eigenvalues must not depend on the parameters' units.
  VectorXd scale = (p.diagonal() + q.diagonal()).cwiseSqrt();
  for (Index i = 0; i < scale.size(); ++i) {
    if (scale(i) > 0.0) continue;
    if (difference(i) != 0.0) return singular_pair();
    scale(i) = 1.0;  // a constant coordinate: its row and column are zero
  }
  const VectorXd inverse = scale.cwiseInverse();
  const MatrixXd unit_p = inverse.asDiagonal() * p * inverse.asDiagonal();
  const MatrixXd unit_q = inverse.asDiagonal() * q * inverse.asDiagonal();
  const VectorXd unit_difference = inverse.cwiseProduct(difference);

  const MatrixXd range_p = range_of(unit_p);
  const MatrixXd range_q = range_of(unit_q);
  const Index dimension = p.rows();
  if (range_p.cols() == dimension && range_q.cols() == dimension) {
    return diagonalise(unit_difference, unit_p, unit_q);
  }
  if (range_p.cols() != range_q.cols()) {
    WhitenedPair pair = singular_pair();
    pair.used_rank_tolerance = true;
    return pair;
  }
  const auto outside = [&range_p](const MatrixXd& v) -> MatrixXd {
    return v - range_p * (range_p.transpose() * v);
  };
  WhitenedPair pair = singular_pair();
  if (outside(range_q).norm() <= kRangeTolerance &&
      outside(unit_difference).norm() <= kRangeTolerance * unit_difference.norm()) {
    pair = range_p.cols() == 0 ? WhitenedPair{false, true, ArrayXd(0), ArrayXd(0), ArrayXd(0)}
                               : diagonalise(range_p.transpose() * unit_difference,
                                             range_p.transpose() * unit_p * range_p,
                                             range_p.transpose() * unit_q * range_p);
  }
  pair.used_rank_tolerance = true;
  return pair;
}

struct LowRank {
  VectorXd diagonal;
  MatrixXd factor;
};

/// Any kind but Dense as diagonal plus thin factor.
std::optional<LowRank> low_rank_form(const Covariance& covariance) {
  if (std::holds_alternative<Dense>(covariance)) return std::nullopt;
  if (const auto* factored = std::get_if<Factored>(&covariance)) {
    return LowRank{factored->diagonal, factored->factor};
  }
  return LowRank{diagonal_of(covariance), MatrixXd(dimension(covariance), 0)};
}

/// Where q's diagonal is r times p's, all but the span of the two factors is N(0, I) against
/// N(., r I) after scaling, so only a (k + k')-dimensional problem needs eigenvalues.
std::optional<WhitenedPair> whiten_low_rank(const VectorXd& difference, const LowRank& p,
                                            const LowRank& q) {
  const Index dimension = difference.size();
  const Index rank = p.factor.cols() + q.factor.cols();
  if (2 * rank >= dimension || p.diagonal.minCoeff() <= 0.0 || q.diagonal.minCoeff() <= 0.0) {
    return std::nullopt;
  }
  const double r = q.diagonal(0) / p.diagonal(0);
  if (((q.diagonal - r * p.diagonal).array().abs() > 1e-15 * q.diagonal.array()).any()) {
    return std::nullopt;
  }
  const VectorXd inverse_scale = p.diagonal.cwiseSqrt().cwiseInverse();
  MatrixXd span(dimension, rank);
  span << inverse_scale.asDiagonal() * p.factor, inverse_scale.asDiagonal() * q.factor;
  const Eigen::HouseholderQR<MatrixXd> qr(span);
  const VectorXd rotated = qr.householderQ().transpose() * inverse_scale.cwiseProduct(difference);
  const MatrixXd coefficients =
      qr.matrixQR().topRows(rank).template triangularView<Eigen::Upper>().toDenseMatrix();
  const auto small = [&](Index first, Index count, double level) -> MatrixXd {
    const MatrixXd f = coefficients.middleCols(first, count);
    return MatrixXd::Identity(rank, rank) * level + f * f.transpose();
  };
  const WhitenedPair inner = diagonalise(rotated.head(rank), small(0, p.factor.cols(), 1.0),
                                         small(p.factor.cols(), q.factor.cols(), r));
  WhitenedPair pair{false, false, ArrayXd::Constant(dimension, r - 1.0),
                    ArrayXd::Constant(dimension, r), ArrayXd::Zero(dimension)};
  pair.excess.head(rank) = inner.excess;
  pair.ratio.head(rank) = inner.ratio;
  pair.shift.head(rank) = inner.shift;
  // Outside the span the ratio is the same everywhere: one axis can carry the whole shift.
  pair.shift(rank) = rotated.tail(dimension - rank).norm();
  return pair;
}

}  // namespace

WhitenedPair whiten(const VectorXd& mean_p, const Covariance& cov_p, const VectorXd& mean_q,
                    const Covariance& cov_q) {
  require_size("mean_p", mean_p.size(), dimension(cov_p));
  require_size("mean_q", mean_q.size(), mean_p.size());
  require_size("cov_q", dimension(cov_q), mean_p.size());
  const VectorXd difference = mean_q - mean_p;
  const std::optional<LowRank> p = low_rank_form(cov_p);
  const std::optional<LowRank> q = low_rank_form(cov_q);
  if (p && q) {
    if (p->factor.cols() + q->factor.cols() == 0) {
      return whiten_diagonal(difference, p->diagonal, q->diagonal);
    }
    if (const auto pair = whiten_low_rank(difference, *p, *q)) return *pair;
  }
  return whiten_dense(difference, dense(cov_p), dense(cov_q));
}

WhitenedPair swapped(const WhitenedPair& pair) {
  WhitenedPair result = pair;
  result.ratio = 1.0 / pair.ratio;
  result.excess = -pair.excess / pair.ratio;
  result.shift = -pair.shift / pair.ratio.sqrt();
  return result;
}

WhitenedPair shifted_normals(double mu) {
  return {false, false, ArrayXd::Zero(1), ArrayXd::Ones(1),
          ArrayXd::Constant(1, require_non_negative("mu", mu))};
}

}  // namespace sfumato
