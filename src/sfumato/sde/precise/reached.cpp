#include "sfumato/sde/precise/reached.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSurelyApart = 1e-6;  // of a vector: what is left of it outside of a subspace
constexpr double kSurelyInside = 1e-13;

/// Orthonormal columns that grow by vectors outside of their span.
class Subspace {
 public:
  explicit Subspace(Index dimension) : basis_(dimension, 0) {}

  [[nodiscard]] const MatrixXd& basis() const { return basis_; }
  [[nodiscard]] bool is_clear() const { return is_clear_; }  ///< no vector was neither in nor out

  /// What is outside, of a vector of length 1.
  [[nodiscard]] VectorXd outside(const VectorXd& unit) const {
    VectorXd rest = unit - basis_ * (basis_.transpose() * unit);
    return rest - basis_ * (basis_.transpose() * rest);
  }
  void add(const VectorXd& vector, double scale) {
    if (vector.norm() <= kSurelyInside * scale) return;
    const VectorXd rest = outside(vector.normalized());
    if (rest.norm() <= kSurelyInside * static_cast<double>(vector.size())) return;
    if (rest.norm() < kSurelyApart) is_clear_ = false;
    basis_.conservativeResize(Eigen::NoChange, basis_.cols() + 1);
    basis_.rightCols(1) = rest.normalized();
  }
  void add_columns(const MatrixXd& matrix) {
    const double scale = matrix.colwise().norm().maxCoeff();
    for (Index j = 0; j < matrix.cols(); ++j) add(matrix.col(j), scale);
  }

 private:
  MatrixXd basis_;
  bool is_clear_ = true;
};

/// Empty where rounding does not tell.
std::optional<MatrixXd> reached(const ReachedDistribution& distribution, double when) {
  const GivenTraining& training = distribution.training;
  const VectorXd& values = distribution.spectrum.values;
  const double eta = training.learning_rate;
  const bool is_chain = eta > 0.0;
  const auto in_eigenbasis = [&](const VectorXd& x, const VectorXd& factors) {
    return distribution.spectrum.from_eigenbasis(
        factors.cwiseProduct(distribution.spectrum.to_eigenbasis(x)));
  };
  const VectorXd drift = is_chain ? VectorXd(1.0 - eta * values.array()) : values;
  Subspace space(values.size());
  space.add_columns(dense(training.noise));
  const double powers = is_chain ? std::min(when, 1e9) - 1.0 : 1e9;
  Index done = 0;
  for (double j = 0.0; j < powers && done < space.basis().cols(); ++j) {
    const Index last = space.basis().cols();
    for (; done < last; ++done) {
      space.add(in_eigenbasis(space.basis().col(done), drift), drift.cwiseAbs().maxCoeff());
    }
  }
  // What is left of the start.
  VectorXd kept(values.size());
  for (Index i = 0; i < values.size(); ++i) {
    if (when == std::numeric_limits<double>::infinity()) {
      kept(i) = values(i) > 0.0 ? 0.0 : 1.0;
    } else {
      kept(i) = is_chain ? std::pow(drift(i), when) : std::exp(-values(i) * when);
    }
  }
  MatrixXd start = dense(training.start.covariance);
  for (Index j = 0; j < start.cols(); ++j) start.col(j) = in_eigenbasis(start.col(j), kept);
  if (start.cols() > 0) space.add_columns(start);
  if (!space.is_clear()) return std::nullopt;
  return space.basis();
}

/// Whether some of the vectors are surely not in the span of the orthonormal basis.
bool leaves(const MatrixXd& vectors, const MatrixXd& basis) {
  const MatrixXd rest = vectors - basis * (basis.transpose() * vectors);
  return rest.cols() > 0 && rest.colwise().norm().maxCoeff() > kSurelyApart;
}

}  // namespace

void require_singular(const ReachedDistribution& p, const ReachedDistribution& q, double when) {
  const auto of_p = reached(p, when), of_q = reached(q, when);
  if (of_p && of_q) {
    if (leaves(*of_p, *of_q) || leaves(*of_q, *of_p)) return;
    const VectorXd gap = p.mean - q.mean;
    const double size = p.mean.norm() + q.mean.norm();
    if (gap.norm() > 1e-12 * size && leaves(gap.normalized(), *of_p)) return;
  }
  throw NumericalFailure(
      "the noise reaches some directions only through others, with variances too small for double "
      "precision",
      "Put noise in every direction, or ask for a later time",
      Where::here("comparison of two distributions"));
}

}  // namespace sfumato
