#include "sfumato/sde/problem/curvature_shells.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kMostRounding = 0.01;

double slope_at(double z) {
  const double tail = std::exp(-std::abs(z));
  return tail / ((1.0 + tail) * (1.0 + tail));
}

/// Radii in units: the mass of a normal distribution in d dimensions lies near sqrt(d), its tails within nine
/// more; a few beyond for distributions with heavier ones.
std::vector<double> radii_in_units(Index dimension) {
  const double bulk = std::sqrt(static_cast<double>(dimension));
  const bool large = dimension > 200;  // where each shell costs O(d^3) worth counting
  std::vector<double> radii;
  const double fine = large ? 1.5 : 0.6;
  const double first = std::max(fine, bulk - 3.0);
  for (double x = first; x < bulk + 4.0; x += fine) radii.push_back(x);
  for (double x = radii.back() + 1.0; x < bulk + 9.5; x += large ? 2.0 : 1.0) radii.push_back(x);
  for (int i = 0; i < (large ? 2 : 5); ++i) radii.push_back(radii.back() * 1.4);
  return radii;
}

/// The lower Cholesky factor, by blocks of columns so that a stop is answered soon; empty if the matrix
/// is not positive definite.
MatrixXd cholesky(MatrixXd a, const Observer& observer) {
  constexpr Index kColumns = 192;
  const Index n = a.rows();
  for (Index first = 0; first < n; first += kColumns) {
    throw_if_stopped(observer);
    const Index width = std::min(kColumns, n - first);
    const Index rest = n - first - width;
    const Eigen::LLT<MatrixXd> corner(a.block(first, first, width, width));
    if (corner.info() != Eigen::Success) return {};
    a.block(first, first, width, width) = corner.matrixL();
    auto below = a.block(first + width, first, rest, width);
    corner.matrixU().solveInPlace<Eigen::OnTheRight>(below);
    a.block(first + width, first + width, rest, rest)
        .selfadjointView<Eigen::Lower>()
        .rankUpdate(below, -1.0);
  }
  return a;
}

bool is_definite(const MatrixXd& matrix, const Observer& observer) {
  return cholesky(matrix, observer).size() > 0;
}

/// Calls visit(first, count) for blocks of rows; about 1e9 products between two looks at the observer.
template <class Visit>
void for_blocks(Index rows, Index parameters, const Observer& observer, Visit&& visit) {
  const Index block = std::clamp<Index>(1000000000 / (parameters * parameters), 64, 1024);
  for (Index first = 0; first < rows; first += block) {
    throw_if_stopped(observer);
    visit(first, std::min(block, rows - first));
  }
}

/// sum_l weights_l (link curvature of row l) x (x_l x_l^T), in units of `scale`.
MatrixXd gram(const MatrixXd& features, const MatrixXd& probabilities, const VectorXd& scale,
              const ArrayXd& weights, const Observer& observer) {
  const Index p = features.cols();
  const Index m = probabilities.cols();
  MatrixXd sum = MatrixXd::Zero(p * m, p * m);
  for_blocks(features.rows(), p * m, observer, [&](Index first, Index count) {
    const auto x = features.middleRows(first, count);
    const auto z = probabilities.middleRows(first, count).array();
    const ArrayXd w = weights.segment(first, count);
    for (Index k = 0; k < m; ++k) {
      for (Index j = 0; j <= k; ++j) {
        ArrayXd factor = w;
        if (m > 1)
          factor *= j == k ? ArrayXd(z.col(k) * (1.0 - z.col(k))) : ArrayXd(-z.col(k) * z.col(j));
        sum.block(k * p, j * p, p, p).noalias() +=
            x.transpose() * MatrixXd(factor.matrix().asDiagonal() * x);
      }
    }
  });
  // Only blocks on and below the diagonal were filled; those on it are symmetric up to rounding.
  for (Index i = 0; i < p * m; ++i) {
    for (Index j = 0; j <= i; ++j) {
      sum(i, j) /= scale(i) * scale(j);
      sum(j, i) = sum(i, j);
    }
  }
  return sum;
}

/// A share of the identity that is below the matrix: a power of 1/2, or less than `enough`.
double definite_share(const MatrixXd& matrix, double enough, const Observer& observer) {
  const auto identity = MatrixXd::Identity(matrix.rows(), matrix.cols());
  double share = 0.5;
  while (share > enough && !is_definite(matrix - share * identity, observer)) share *= 0.5;
  return share;
}

/// Nearly the largest multiple of the metric that is below the matrix, by bisection from `high`.
double multiple_below(const MatrixXd& matrix, const MatrixXd& metric, double high,
                      const Observer& observer) {
  double low = 0.0;
  for (int step = 0; step < 6; ++step) {
    const double middle = step == 0 ? 0.98 * high : 0.5 * (low + high);
    (is_definite(matrix - middle * metric, observer) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double least_slope(double z, double width) { return slope_at(std::abs(z) + width); }

double largest_spread(const MatrixXd& products) {
  if (products.rows() == 1) return std::sqrt(std::max(0.0, products(0, 0)));
  double largest = 0.0;
  for (Index j = 0; j < products.rows(); ++j) {
    for (Index k = 0; k < j; ++k) {
      // Rounding of what cancels is put back.
      largest = std::max(largest, products(j, j) + products(k, k) - 2.0 * products(j, k) +
                                      16.0 * kEpsilon * (products(j, j) + products(k, k)));
    }
  }
  return std::sqrt(largest);
}

MatrixXd CurvatureShells::columns(const VectorXd& features) const {
  const Index p = features.size();
  MatrixXd result = MatrixXd::Zero(p * outputs_, outputs_);
  for (Index k = 0; k < outputs_; ++k) result.col(k).segment(k * p, p) = features;
  return result;
}

double CurvatureShells::width(const VectorXd& features) const {
  const MatrixXd white = whiten(0, columns(features));
  return largest_spread(white.transpose() * white) * shells_.front().slack * (1.0 + 1e-12);
}

ArrayXd CurvatureShells::widths_of(const ClassificationProblem& problem, const MatrixXd& lower,
                                   const Observer& observer) const {
  const MatrixXd& features = problem.features();
  const auto whiten = [&](const MatrixXd& columns) -> MatrixXd {
    return lower.triangularView<Eigen::Lower>().solve(
        MatrixXd(scale_.cwiseInverse().asDiagonal() * columns));
  };
  ArrayXd widths(features.rows());
  for_blocks(features.rows(), problem.parameters(), observer, [&](Index first, Index count) {
    if (!problem.is_softmax()) {
      const MatrixXd white = whiten(features.middleRows(first, count).transpose());
      widths.segment(first, count) = white.colwise().norm().transpose().array();
      return;
    }
    for (Index l = first; l < first + count; ++l) {
      const MatrixXd white = whiten(columns(features.row(l).transpose()));
      widths(l) = largest_spread(white.transpose() * white);
    }
  });
  return widths;
}

CurvatureShells::CurvatureShells(const ClassificationFit& fit, double unit,
                                 const Observer& observer)
    : outputs_(fit.problem().outputs()) {
  const ClassificationProblem& problem = fit.problem();
  require_positive("unit", unit);
  const MatrixXd& features = problem.features();
  const Index rows = problem.rows();
  const Index p = problem.parameters();
  const bool softmax = problem.is_softmax();
  const auto own = problem.weights();
  const VectorXd& centre = fit.convexity().minimiser;
  const MatrixXd z = features * centre.reshaped(features.cols(), outputs_);
  const ArrayXd scores = z.col(0).array();
  const MatrixXd probabilities = softmax ? problem.probabilities(centre) : MatrixXd::Ones(rows, 1);
  // Of a score, or of two.
  const double score_rounding =
      (softmax ? 4.0 : 2.0) * static_cast<double>(features.cols() + 2) * kEpsilon * centre.norm();
  const ArrayXd lengths = features.rowwise().norm().array();
  ArrayXd weights = ArrayXd::Ones(rows);
  if (!softmax) weights = scores.unaryExpr([](double score) { return slope_at(score); });
  VectorXd diagonal = VectorXd::Constant(p, own.ridge);
  for (Index k = 0; k < outputs_; ++k) {
    const ArrayXd slope =
        softmax ? ArrayXd(probabilities.col(k).array() * (1.0 - probabilities.col(k).array()))
                : weights;
    diagonal.segment(k * features.cols(), features.cols()) +=
        own.row *
        (features.array().square().colwise() * slope).colwise().sum().transpose().matrix();
  }
  scale_ = diagonal.cwiseSqrt();
  if (!(scale_.minCoeff() > 0.0) || !scale_.allFinite()) return;
  const VectorXd ridge = own.ridge * diagonal.cwiseInverse();
  MatrixXd metric = own.row * gram(features, probabilities, scale_, weights, observer);
  metric.diagonal() += ridge;
  // Rounding of sums of N terms in a matrix with diagonal 1, against its least eigenvalue.
  const double entries =
      static_cast<double>(rows + 32 * p + 64) * static_cast<double>(p) * kEpsilon;
  const double rounding = entries / definite_share(metric, entries, observer);
  if (!(rounding < kMostRounding)) return;
  MatrixXd lower = cholesky(metric, observer);
  if (lower.size() == 0) return;
  const ArrayXd widths = (1.0 + 2.0 * rounding) * widths_of(problem, lower, observer);
  const auto add = [&](double radius, double least, MatrixXd factor) {
    shells_.push_back({radius, std::max(0.0, least - 4.0 * rounding), 1.0 + 4.0 * rounding / least,
                       std::move(factor)});
  };
  add(0.0, 1.0, std::move(lower));
  double least = 1.0;
  for (const double x : radii_in_units(p)) {
    const double radius = x * unit;
    const auto reach = [&](Index l) { return radius * widths(l) + score_rounding * lengths(l); };
    for (Index l = 0; l < rows; ++l) {
      weights(l) = softmax ? std::exp(-reach(l)) : least_slope(scores(l), reach(l));
    }
    MatrixXd matrix = own.row * gram(features, probabilities, scale_, weights, observer);
    matrix.diagonal() += ridge;
    least = multiple_below(matrix, metric, least, observer);
    if (!(rounding < kMostRounding * least)) break;
    MatrixXd factor = cholesky(std::move(matrix), observer);
    if (factor.size() == 0) break;
    add(radius, least, std::move(factor));
  }
}

MatrixXd CurvatureShells::whiten(std::size_t k, const MatrixXd& columns) const {
  return shells_[k].lower.triangularView<Eigen::Lower>().solve(
      MatrixXd(scale_.cwiseInverse().asDiagonal() * columns));
}

}  // namespace sfumato
