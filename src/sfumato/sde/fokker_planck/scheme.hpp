#pragma once

#include <Eigen/Core>

#include "sfumato/sde/fokker_planck/operator.hpp"

namespace sfumato {

/// One implicit Euler step along one axis, (I - dt Q) p_new = p_old, for many lines at once.
///
/// Implicit Euler is first order, and no other one-step linear method that keeps densities positive
/// for every dt is of higher order [BolleyCrouzeix1978]: Crank-Nicolson and the like give negative
/// tails, whose logarithms an entropy cannot use. Accuracy comes from extrapolating the functionals
/// in dt instead.
///
/// The elimination uses only sums, products and quotients of non-negative numbers (the columns of
/// I - dt Q sum to 1, so the pivots need no subtraction): every cell keeps nearly full relative
/// precision however large dt is, far tails included.
class ImplicitEuler {
 public:
  /// `rates` hold (cells - 1) x lines entries, the lines fastest.
  void factor(const JumpRates& rates, double dt, Eigen::Index cells, Eigen::Index lines);

  /// In place on cells x lines values, the lines fastest. Uses no division.
  void solve(double* density) const;

 private:
  Eigen::Index cells_ = 0;
  Eigen::Index lines_ = 0;
  Eigen::ArrayXd carry_;    ///< up / pivot
  Eigen::ArrayXd inverse_;  ///< 1 / pivot
  Eigen::ArrayXd back_;     ///< down / pivot
};

}  // namespace sfumato
