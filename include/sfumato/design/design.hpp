#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/design/budget.hpp"
#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// The set of covariances that a design chooses from.
enum class DesignForm {
  isotropic,  ///< v I
  grouped,    ///< one variance per group of coordinates, e.g. per layer
  diagonal,
  full,
  low_rank  ///< the full optimum as diagonal plus low rank: fewer differences than coordinates,
            ///< diagonal weights, and a floor or a regularisation
};
[[nodiscard]] std::string_view name(DesignForm form);

/// What is asked:  the covariance of a form that hides the differences best within a budget.
///
///   minimise  cost(Sigma) + rho tr(W^{-1} Sigma^{-1})   over  tr(W Sigma) <= total,
///   Sigma_ii >= floor_i;   cost = mean or maximum over k of  s_k^T Sigma^{-1} s_k   (Spec §9)
struct DesignTask {
  Budget budget;
  DesignForm form = DesignForm::diagonal;
  std::vector<Eigen::Index> groups = {};  ///< grouped: the group of each coordinate, from 0
  /// Least variance of each coordinate; empty for none. For full and low_rank it bounds every
  /// direction, must be one number for all coordinates, and W must be a multiple of I.
  Eigen::VectorXd floor = {};
  double regularisation = 0.0;  ///< rho >= 0
};

/// What a user should know before using a design.
enum class DesignWarning {
  rank_deficient,      ///< differences outside the span of the given ones have no noise at all
  silent_coordinates,  ///< coordinates that no given difference touches have no noise
  dropped_direction,   ///< a difference is too small in some direction to be told from rounding:
                       ///< its cost counts as +inf; use a floor or a regularisation
  not_converged        ///< stopped, or out of iterations: the gap is above the tolerance
};
[[nodiscard]] std::string_view describe(DesignWarning warning);

/// A covariance, what it achieves and how far it can be from the best of its form.
struct Design {
  Covariance covariance;
  double budget;       ///< tr(W Sigma)
  double value;        ///< mean or largest s^T Sigma^{-1} s of this covariance
  double objective;    ///< value plus the regularising term
  double lower_bound;  ///< no covariance of the form within the budget has a smaller objective
  double gap;          ///< objective / lower_bound - 1: the certificate
  int iterations = 0;
  Eigen::VectorXd pair_weights = {};  ///< minimax: the least favourable weights of the differences
  double isotropic_value;             ///< value of v I at the same budget; +inf if below the floor
  /// Value of the best diagonal noise at the same budget, where it was asked for or costs nothing.
  std::optional<double> diagonal_value = {};
  std::vector<DesignWarning> warnings = {};
  Eigen::Index silent = 0;  ///< how many coordinates have no noise

  [[nodiscard]] double gain_over_isotropic() const { return isotropic_value / value; }
  [[nodiscard]] std::optional<double> gain_over_diagonal() const {
    return diagonal_value ? std::optional(*diagonal_value / value) : std::nullopt;
  }
};

/// The gap for people: one digit, rounded up, and no less than what rounding leaves (1e-12).
[[nodiscard]] double stated_gap(const Design& design);

/// The value as a number with its claim: exact up to the gap where it was optimised iteratively.
[[nodiscard]] Claimed<double> claimed_value(const Design& design);

/// The same design at another budget: without a floor Sigma is proportional to it and every value
/// to its inverse.  Throws InvalidArgument if factor is not positive.
[[nodiscard]] Design rescaled(const Design& design, double factor);

}  // namespace sfumato
