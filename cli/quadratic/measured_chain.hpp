#pragma once

#include <Eigen/Core>

#include "sfumato/sde/chain_law.hpp"

namespace sfumato::cli {

/// The law of a linear chain and how well its iterates do: what OuLaw is for a flow.
///
/// In the eigenbasis of A the coordinates of x_k - x* do not mix (r_i = 1 - eta l_i, Spec §8):
///
///   E (x_k - x*)_i^2 = r_i^{2k} ( (m_0 - x*)_i^2 + V0_ii ) + S_ii geometric_sum(1 - r_i^2, k)
///
/// a sum of positive terms, exact up to rounding, finite wherever it does not diverge.
class MeasuredChain : public ChainLaw {
 public:
  /// Throws   as ChainLaw.
  MeasuredChain(const LinearChain& chain, const GaussianLaw& start);

  /// E|x_k - x*|^2 for a minimiser x* of the loss; +inf where it diverges.
  /// Throws   InvalidArgument if steps is negative, NaN or not whole.
  [[nodiscard]] double error(double steps, const Eigen::VectorXd& minimiser) const;

  /// E f(x_k) - min f; directions in which f is flat add nothing.
  /// Assumes  the loss has a minimum.
  [[nodiscard]] double excess_loss(double steps) const;

 private:
  [[nodiscard]] double square(Eigen::Index i, double start_gap, double steps) const;

  double learning_rate_;
  Eigen::VectorXd pull_;    ///< Q^T pull
  Eigen::VectorXd mean_;    ///< Q^T m_0
  Eigen::VectorXd noise_;   ///< variances of Q^T S Q
  Eigen::VectorXd spread_;  ///< variances of Q^T V_0 Q
};

}  // namespace sfumato::cli
