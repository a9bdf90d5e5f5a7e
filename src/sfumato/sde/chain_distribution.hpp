#pragma once

#include <Eigen/Core>

#include "sfumato/math/covariance.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "sfumato/sde/precise/twin.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {

/// Noisy gradient descent on a quadratic loss,  x <- x - eta (A x - pull) + N(0, S)  (Spec §8).
struct LinearChain {
  Eigen::MatrixXd curvature;  ///< A, symmetric; may be singular or indefinite
  Eigen::VectorXd pull;       ///< A x* where a minimiser x* exists
  double learning_rate;       ///< eta > 0
  Covariance step_noise;      ///< S, of one step; the flow's Sigma is S / eta
  /// What curvature and pull are rounded from; none if they are what is meant.
  std::shared_ptr<const GivenLoss> given = {};
};

/// (1 - u)^steps and the sum of (1 - u)^j over j < steps, from the complement u of the ratio, which
/// holds the digits for small steps. steps is a whole number, finite.
[[nodiscard]] double power_of_complement(double u, double steps);
[[nodiscard]] double geometric_sum(double u, double steps);

/// The distribution of a linear chain after any number of steps, exact up to rounding.
///
///   m_k = m_0 + Q diag( geometric_sum(eta l_i, k) ) Q^T eta (pull - A m_0)
///   V_k = Q [ V0_ij (r_i r_j)^k + S_ij geometric_sum(1 - r_i r_j, k) ]_ij Q^T
///   r_i = 1 - eta l_i
///
/// in the eigenbasis A = Q diag(l) Q^T: O(d^3) for any k, not O(k d^3). O(d) when everything is
/// diagonal; the covariance is then Diagonal and zeros stay exact.
///
/// Assumes   step_noise and start.covariance are valid (require_covariance).
class ChainDistribution {
 public:
  /// Throws InvalidArgument if sizes differ, A is not symmetric, an entry is not finite, or the
  /// learning rate is not positive.
  ChainDistribution(const LinearChain& chain, const GaussianDistribution& start);
  [[nodiscard]] static ChainDistribution of(const GivenTraining& training);

  [[nodiscard]] Eigen::Index dimension() const { return force_.size(); }
  [[nodiscard]] const Spectrum& spectrum() const { return spectrum_; }
  [[nodiscard]] const GaussianDistribution& start() const { return start_; }
  [[nodiscard]] const PreciseTraining& precise() const { return precise_; }
  [[nodiscard]] const ChainDistribution& twin() const { return twin_.of(precise_.given()); }

  /// Whether the eigenvalues were taken from more digits than double precision has.
  [[nodiscard]] bool lost_digits() const { return lost_digits_; }

  /// Whether A, S and V_0 are all diagonal, so that no digit is lost.
  [[nodiscard]] bool is_diagonal() const { return diagonal_; }

  /// The distribution after `steps` steps, a whole number; +inf gives the long-run distribution.
  ///
  /// Throws   InvalidArgument if steps is negative, NaN or not whole; NumericalFailure if the distribution
  ///          overflows or, for +inf, if there is no limit.
  [[nodiscard]] GaussianDistribution at(double steps) const;

  /// m_k - m_0, which keeps its digits when it is small. Finite steps only.
  [[nodiscard]] Eigen::VectorXd displacement(double steps) const;

  /// The limit: V solves V = (I - eta A) V (I - eta A) + S.
  ///
  /// There is none if some |1 - eta l| > 1, or = 1 with noise or pull along it (for l = 0 without
  /// either the start stays as it is).
  [[nodiscard]] LongRunDistribution long_run() const;

  /// E|x_k - x*|^2 for a minimiser x* of the loss; +inf where it diverges. In the eigenbasis the
  /// coordinates of x_k - x* do not mix:
  ///
  ///   E (x_k - x*)_i^2 = r_i^{2k} ( (m_0 - x*)_i^2 + V0_ii ) + S_ii geometric_sum(1 - r_i^2, k)
  ///
  /// Throws   InvalidArgument if steps is negative, NaN or not whole.
  [[nodiscard]] double error(double steps, const Eigen::VectorXd& minimiser) const;

  /// E f(x_k) - min f; directions in which f is flat add nothing.
  /// Assumes  the loss has a minimum.
  [[nodiscard]] double excess_loss(double steps) const;

 private:
  template <class Entry>
  [[nodiscard]] Covariance rotate_back(Entry entry) const;

  /// E (x_k - x*)_i^2, `gap` being (m_0 - x*)_i.
  [[nodiscard]] double mean_square(Eigen::Index i, double gap, double steps) const;

  GaussianDistribution start_;
  Spectrum spectrum_;
  Eigen::VectorXd pull_;    ///< Q^T pull
  Eigen::VectorXd mean_;    ///< Q^T m_0
  bool diagonal_;           ///< A, S and V_0 all are
  Eigen::VectorXd speed_;   ///< eta l_i
  Eigen::VectorXd force_;   ///< eta Q^T (pull - A m_0)
  Eigen::MatrixXd noise_;   ///< Q^T S Q, or one column of variances when diagonal_
  Eigen::MatrixXd spread_;  ///< Q^T V_0 Q, likewise
  PreciseTraining precise_;
  DistributionTwin<ChainDistribution> twin_;
  bool lost_digits_ = false;
};

/// Checks that `steps` is a whole number >= 0 or +inf.
/// Throws   InvalidArgument.
void require_steps(double steps, const Where& where = Where::here());

/// The two distributions after `steps` steps against each other, +inf for the long run, with the digits of
/// whiten_at of two flows. Throws likewise.
[[nodiscard]] WhitenedPair whiten_at(const ChainDistribution& p, const ChainDistribution& q,
                                     double steps);

}  // namespace sfumato
