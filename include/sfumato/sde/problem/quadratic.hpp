#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>

#include "sfumato/core/error.hpp"

namespace sfumato {

namespace detail {
struct GivenLoss;
}  // namespace detail

/// The loss  f(x) = 1/2 x^T A x - pull^T x  up to a constant; its gradient is A x - pull (Spec §5).
struct QuadraticLoss {
  Eigen::MatrixXd curvature;  ///< A, symmetric; may be singular or indefinite
  Eigen::VectorXd pull;
  std::optional<Eigen::VectorXd> given_point = {};  ///< x*, if that is how the loss was given
  /// What curvature and pull are rounded from; none if they are what is meant.
  std::shared_ptr<const detail::GivenLoss> given = {};
};

/// Where a quadratic loss is least.
struct Minimum {
  std::optional<Eigen::VectorXd> point;  ///< empty when the loss has no minimum
  bool unique = false;  ///< false when A is singular: the point is then one of many
  std::string reason;   ///< why there is none, with the eigenvalue; else empty
};

/// f from its curvature and the point x* where the gradient vanishes: pull = A x*.
/// Throws InvalidArgument if A is not square, symmetric and finite (with the entry), or sizes differ.
[[nodiscard]] QuadraticLoss quadratic_from_point(const Eigen::MatrixXd& curvature,
                                                 const Eigen::VectorXd& point,
                                                 const Where& where = Where::here());

/// f from B and x*: A = B^T B. Throws as quadratic_from_point.
[[nodiscard]] QuadraticLoss quadratic_from_factor_and_point(const Eigen::MatrixXd& factor,
                                                            const Eigen::VectorXd& point,
                                                            const Where& where = Where::here());

/// f from B and the pull: A = B^T B. Throws as quadratic_from_point.
[[nodiscard]] QuadraticLoss quadratic_from_factor_and_pull(const Eigen::MatrixXd& factor,
                                                           const Eigen::VectorXd& pull,
                                                           const Where& where = Where::here());

/// f from its curvature and pull. Throws as quadratic_from_point.
[[nodiscard]] QuadraticLoss quadratic_from_pull(const Eigen::MatrixXd& curvature,
                                                const Eigen::VectorXd& pull,
                                                const Where& where = Where::here());

/// Least squares  f(x) = 1/2 |B x - y|^2, with the factor 1/2: A = B^T B, pull = B^T y.
/// Throws InvalidArgument if B and y differ in rows or an entry is not finite.
[[nodiscard]] QuadraticLoss quadratic_from_factor(const Eigen::MatrixXd& factor,
                                                  const Eigen::VectorXd& response,
                                                  const Where& where = Where::here());

/// f with another pull.
[[nodiscard]] QuadraticLoss with_pull(const QuadraticLoss& loss, const Eigen::VectorXd& pull);

/// The eigenvalues of A, ascending unless A is diagonal, to all digits of a double.
[[nodiscard]] Eigen::VectorXd eigenvalues(const QuadraticLoss& loss);

/// max|l| / min|l| over the eigenvalues of A (not of B); +inf for a singular A.
[[nodiscard]] double condition_number(const QuadraticLoss& loss);

/// The minimiser: the given point where there is one, else the solution of A x = pull of least norm.
///
/// There is no minimum if an eigenvalue of A is negative, or zero with a pull along it (more than
/// 1e-10 of |pull|, which is rounding).
[[nodiscard]] Minimum minimum(const QuadraticLoss& loss);

}  // namespace sfumato
