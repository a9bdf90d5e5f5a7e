#include "sfumato/sde/problem/quadratic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/math/entries.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/precise/careful.hpp"
#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd gram_of(const MatrixXd& factor, const Where& where) {
  require_finite_entries("B", factor, where);
  if (factor.cols() == 0) {
    throw InvalidArgument("B has no columns", "Give one column per parameter", where);
  }
  const MatrixXd a = factor.transpose() * factor;
  return 0.5 * (a + a.transpose());
}

RowsGiven rows_of(const MatrixXd& factor, const VectorXd& response) {
  return {std::make_shared<const TableSums>(factor, response), {}};
}

QuadraticLoss as_given(QuadraticLoss loss, RowsGiven rows) {
  loss.given = std::make_shared<const GivenLoss>(std::move(rows));
  return loss;
}

}  // namespace

QuadraticLoss quadratic_from_point(const MatrixXd& curvature, const VectorXd& point,
                                   const Where& where) {
  MatrixXd a = require_symmetric("A", curvature, where);
  require_size("x*", point.size(), a.rows(), where);
  require_finite_entries("x*", point, where);
  VectorXd pull = a * point;
  auto source = std::make_shared<const GivenLoss>(MatrixGiven{a, pull, point});
  return {std::move(a), std::move(pull), point, std::move(source)};
}

QuadraticLoss quadratic_from_factor_and_point(const MatrixXd& factor, const VectorXd& point,
                                              const Where& where) {
  RowsGiven rows = rows_of(factor, VectorXd::Zero(factor.rows()));
  rows.point = point;
  return as_given(quadratic_from_point(gram_of(factor, where), point, where), std::move(rows));
}

QuadraticLoss quadratic_from_factor_and_pull(const MatrixXd& factor, const VectorXd& pull,
                                             const Where& where) {
  RowsGiven rows = rows_of(factor, VectorXd::Zero(factor.rows()));
  rows.pull = pull;
  return as_given(quadratic_from_pull(gram_of(factor, where), pull, where), std::move(rows));
}

QuadraticLoss quadratic_from_pull(const MatrixXd& curvature, const VectorXd& pull,
                                  const Where& where) {
  MatrixXd a = require_symmetric("A", curvature, where);
  require_size("pull", pull.size(), a.rows(), where);
  require_finite_entries("pull", pull, where);
  return {std::move(a), pull};
}

QuadraticLoss quadratic_from_factor(const MatrixXd& factor, const VectorXd& response,
                                    const Where& where) {
  require_size("y", response.size(), factor.rows(), where);
  require_finite_entries("y", response, where);
  MatrixXd a = gram_of(factor, where);
  return as_given({std::move(a), factor.transpose() * response}, rows_of(factor, response));
}

QuadraticLoss with_pull(const QuadraticLoss& loss, const VectorXd& pull) {
  require_size("pull", pull.size(), loss.pull.size());
  QuadraticLoss other{loss.curvature, pull};
  if (loss.given) {
    other.given = std::make_shared<const GivenLoss>(with_pull(*loss.given, pull));
  }
  return other;
}

namespace {

/// The eigenvalues of A, and the pull along its eigenvectors, to all digits of a double.
struct Resolved {
  Spectrum spectrum;
  VectorXd pull;
};
Resolved resolve(const QuadraticLoss& loss) {
  Spectrum spectrum = spectrum_of(loss.curvature);
  if (!loses_digits(spectrum)) {
    VectorXd pull = spectrum.to_eigenbasis(loss.pull);
    return {std::move(spectrum), std::move(pull)};
  }
  RoundedSpectrum precise = training_of(loss).spectrum();
  return {{std::move(precise.values), std::move(precise.vectors)}, std::move(precise.pull)};
}

}  // namespace

PreciseTraining training_of(const QuadraticLoss& loss) {
  const Index d = loss.pull.size();
  return PreciseTraining(
      {loss.given ? *loss.given : GivenLoss(MatrixGiven{loss.curvature, loss.pull}),
       Isotropic{1.0, d}, point_distribution(VectorXd::Zero(d))});
}

Eigen::VectorXd eigenvalues(const QuadraticLoss& loss) { return resolve(loss).spectrum.values; }

double condition_number(const QuadraticLoss& loss) {
  const Eigen::ArrayXd sizes = eigenvalues(loss).array().abs();
  const double smallest = sizes.minCoeff();
  return smallest == 0.0 ? std::numeric_limits<double>::infinity() : sizes.maxCoeff() / smallest;
}

Minimum minimum(const QuadraticLoss& loss) {
  const auto [spectrum, pull] = resolve(loss);
  VectorXd x = pull;
  const double rounding = spectrum.is_diagonal() ? 0.0 : kNoPull * loss.pull.norm();
  bool unique = true;
  for (Index i = 0; i < x.size(); ++i) {
    const double rate = spectrum.values(i);
    if (rate < 0.0) {
      return {std::nullopt, false,
              fmt::format("the loss has no minimum: eigenvalue {:.6g} of A is negative", rate)};
    }
    if (rate > 0.0) {
      x(i) /= rate;
      continue;
    }
    // The given point satisfies A x* = pull by construction, whatever the rounding of the pull.
    if (!loss.given_point && std::abs(x(i)) > rounding) {
      return {std::nullopt, false,
              fmt::format("the loss has no minimum: an eigenvalue of A is zero and the loss falls "
                          "without end along it (slope {:.6g})",
                          x(i))};
    }
    x(i) = 0.0;
    unique = false;
  }
  if (loss.given_point) return {loss.given_point, unique, ""};
  return {spectrum.from_eigenbasis(x), unique, ""};
}

}  // namespace sfumato
