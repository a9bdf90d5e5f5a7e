#include "sfumato/math/whitened_pair.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <cmath>
#include <optional>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/math/singular_values.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRangeTolerance = 1e-9;  // of a unit vector outside the common range
// Share of the largest ratio and of 1: above it ratios from the excesses are good to about 1e-12.
constexpr double kSmallestRatio = 1e-4;

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

[[noreturn]] void throw_ill_conditioned(const char* which) {
  throw NumericalFailure(fmt::format("the {} covariance is singular to rounding", which),
                         "Rescale the parameters or drop directions without noise",
                         Where::here("whiten"));
}

/// Ratios as squares of the singular values of P^-1 Q, where p = P P^T and q = Q Q^T: their error
/// grows with the root of the spread of the ratios only.
WhitenedPair diagonalise_spread(const VectorXd& difference, const Eigen::LLT<MatrixXd>& p,
                                const MatrixXd& q) {
  const Eigen::LLT<MatrixXd> llt(q);
  if (llt.info() != Eigen::Success) throw_ill_conditioned("second");
  const MatrixXd quotient = p.matrixL().solve(MatrixXd(llt.matrixL()));
  const LeftSingular svd = left_singular(quotient);
  WhitenedPair pair;
  pair.ratio = svd.values.array().square();
  if (!(pair.ratio > 0.0).all()) throw_ill_conditioned("second");
  pair.excess = pair.ratio - 1.0;
  pair.shift = (svd.vectors.transpose() * p.matrixL().solve(difference)).array();
  return pair;
}

/// Both positive definite. Eigenvalues of P^-1 (q - p) P^-T are the excesses themselves, so nearly
/// equal covariances keep their digits.
WhitenedPair diagonalise(const VectorXd& difference, const MatrixXd& p, const MatrixXd& q) {
  const Eigen::LLT<MatrixXd> llt(p);
  if (llt.info() != Eigen::Success) throw_ill_conditioned("first");
  const MatrixXd half = llt.matrixL().solve(q - p);
  const MatrixXd full = llt.matrixL().solve(half.transpose());
  const SymmetricEigen eigen(0.5 * (full + full.transpose()));
  const VectorXd& excess = eigen.eigenvalues();  // they ascend
  const double largest = 1.0 + excess(excess.size() - 1);
  // Each excess is off by rounding times the largest, which matters where 1 + excess is small.
  if (1.0 + excess(0) < kSmallestRatio * std::max(1.0, largest)) {
    return diagonalise_spread(difference, llt, q);
  }
  WhitenedPair pair;
  pair.excess = excess.array();
  pair.ratio = 1.0 + pair.excess;
  pair.shift = (eigen.eigenvectors().transpose() * llt.matrixL().solve(difference)).array();
  return pair;
}

/// Orthonormal basis of the directions in which a unit-scaled covariance has variance.
MatrixXd range_of(const MatrixXd& matrix) {
  const SymmetricEigen eigen(matrix);
  const double largest = std::max(0.0, eigen.eigenvalues().maxCoeff());
  const double rounding = 100.0 * static_cast<double>(matrix.rows()) * 2.2e-16 * largest;
  const auto values = eigen.eigenvalues().array();
  const Index rank = (values > kRankTolerance * largest).count();
  if (((values > rounding) && (values <= kRankTolerance * largest)).any()) {
    throw NumericalFailure("a direction has too little variance to tell it from none",
                           "Rescale the parameters, or leave that direction out",
                           Where::here("comparison of two distributions"));
  }
  return eigen.eigenvectors().rightCols(rank);  // eigenvalues ascend
}

WhitenedPair whiten_dense(const VectorXd& difference, const MatrixXd& p, const MatrixXd& q) {
  // Each in its own units: a coordinate that is narrow in one distribution only is not a missing one.
  const bool full_p = has_full_rank(p);
  const bool full_q = has_full_rank(q);
  if (full_p && full_q) return diagonalise(difference, p, q);
  if (full_p != full_q) {
    WhitenedPair pair = singular_pair();
    pair.used_rank_tolerance = true;
    return pair;
  }
  // Both singular: their ranges are compared in common units.
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
  const auto outside = [&range_p](const MatrixXd& v) -> MatrixXd {
    return v - range_p * (range_p.transpose() * v);
  };
  WhitenedPair pair = singular_pair();
  if (range_p.cols() == range_q.cols() && outside(range_q).norm() <= kRangeTolerance &&
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
  const double r_excess = (q.diagonal(0) - p.diagonal(0)) / p.diagonal(0);
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
  WhitenedPair pair{false, false, ArrayXd::Constant(dimension, r_excess),
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
  if (mean_p.size() == 0) return {};
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

void require_comparable(const WhitenedPair& pair) {
  const bool ratios = (pair.ratio > 0.0).all() && pair.ratio.isFinite().all();
  if (ratios && std::isfinite((pair.shift.square() * (1.0 + 1.0 / pair.ratio)).sum())) return;
  throw NumericalFailure(
      "the two distributions are too far apart, or too unequal, for double precision",
      "Rescale the data, or use more noise or ridge", Where::here("comparison"));
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
