#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>

#include "sfumato/math/covariance.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/ou_pair.hpp"
#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/precise/twin.hpp"
#include "sfumato/sde/problem/given_loss.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {

/// Checks what the distribution of a linear flow or chain is made of, and returns A symmetrised.
/// Throws   InvalidArgument if sizes differ, A is not symmetric, or an entry is not finite.
[[nodiscard]] Eigen::MatrixXd require_linear(const OuProcess& process,
                                             const GaussianDistribution& start, const Where& where);

/// Where a process goes as time grows.
struct LongRunDistribution {
  std::optional<GaussianDistribution> distribution;  ///< empty when there is no limit
  std::string reason;  ///< why there is none, with the eigenvalue; else empty
};

/// The distribution of an Ornstein-Uhlenbeck process at every time, exact up to rounding.
///
///   Spec §5:   m_t = e^{-At} m_0 + Q diag(phi1(l_i, t)) Q^T pull
///              V_t = e^{-At} V_0 e^{-At} + Q [S_ij phi1(l_i + l_j, t)]_ij Q^T,   S = Q^T Sigma Q
///
/// with A = Q diag(l) Q^T. A and Sigma need not commute. The eigenvalues are computed once, each
/// time then costs O(d^3), or O(d) when A, Sigma and V_0 are all diagonal; the covariance is then
/// Diagonal, and zeros stay exact.
///
/// Assumes   noise and start.covariance are valid (require_covariance); sizes and symmetry of A are
///           checked here.
/// Units     time is training time: A is per unit of it.
class OuDistribution {
 public:
  /// Throws InvalidArgument if sizes differ, A is not symmetric, or an entry is not finite.
  OuDistribution(const OuProcess& process, const GaussianDistribution& start);
  [[nodiscard]] static OuDistribution of(const GivenTraining& training);

  [[nodiscard]] Eigen::Index dimension() const { return pull_.size(); }
  [[nodiscard]] const Spectrum& spectrum() const { return spectrum_; }
  [[nodiscard]] const GaussianDistribution& start() const { return start_; }
  [[nodiscard]] const PreciseTraining& precise() const { return precise_; }
  [[nodiscard]] const OuDistribution& twin() const { return twin_.of(precise_.given()); }

  /// Whether the eigenvalues were taken from more digits than double precision has.
  [[nodiscard]] bool lost_digits() const { return lost_digits_; }

  /// Whether A, Sigma and V_0 are all diagonal, so that no digit is lost.
  [[nodiscard]] bool is_diagonal() const {
    return spectrum_.is_diagonal() && noise_.full.size() == 0 && spread_.full.size() == 0;
  }

  /// The distribution at `time`; +inf gives the long-run distribution.
  ///
  /// Throws   InvalidArgument if time is negative or NaN; NumericalFailure if the distribution overflows
  ///          (A has a negative eigenvalue) or, for +inf, if there is no limit.
  [[nodiscard]] GaussianDistribution at(double time) const;

  /// m_t - m_0 = Q diag(phi1(l_i, t)) Q^T (pull - A m_0), which keeps its digits as t -> 0, where
  /// m_t itself agrees with m_0 in nearly all of them. Finite times only.
  [[nodiscard]] Eigen::VectorXd displacement(double time) const;

  /// The limit t -> inf: V solves A V + V A = Sigma.
  ///
  /// There is none if A has a negative eigenvalue, or a zero one with noise or pull along it. Where
  /// A, noise and pull are all zero the start stays as it is, and the limit depends on it.
  [[nodiscard]] LongRunDistribution long_run() const;

  /// E|x_t - target|^2 = |m_t - target|^2 + tr V_t, for any target; +inf where it diverges.
  [[nodiscard]] double error(double time, const Eigen::VectorXd& target) const;

  /// E f(x_t) - min f  for  f(x) = 1/2 x^T A x - pull^T x.
  ///
  /// Empty when f has no minimum (minimum() of the loss says why). Directions in which f is flat add
  /// nothing, so this is defined for singular A too; as t -> inf it is tr(Sigma)/4 for definite A.
  [[nodiscard]] std::optional<double> excess_loss(double time) const;

 private:
  /// Symmetric matrix in the eigenbasis: `full` is empty when it is diagonal there.
  struct Rotated {
    Eigen::VectorXd diagonal;
    Eigen::MatrixXd full;
    [[nodiscard]] double entry(Eigen::Index i, Eigen::Index j) const {
      if (i == j) return diagonal(i);
      return full.size() == 0 ? 0.0 : full(i, j);
    }
  };

  [[nodiscard]] Rotated rotate(const Covariance& covariance) const;
  template <class Entry>
  [[nodiscard]] Covariance rotate_back(Entry entry) const;
  [[nodiscard]] bool has_noise(Eigen::Index i) const;

  GaussianDistribution start_;
  Spectrum spectrum_;
  Eigen::VectorXd pull_;   ///< Q^T pull
  Eigen::VectorXd mean_;   ///< Q^T m_0
  Eigen::VectorXd force_;  ///< Q^T (pull - A m_0), the drift at the start
  Rotated noise_;
  Rotated spread_;  ///< Q^T V_0 Q
  PreciseTraining precise_;
  DistributionTwin<OuDistribution> twin_;
  bool lost_digits_ = false;
};

/// The two distributions at `time` against each other (P = p, Q = q), +inf for the long run.
///
/// With noise in every direction the result has at least eight digits, from as many as it takes
/// (compare_precisely). Otherwise it is that of whiten(p.at(time), q.at(time)), where the difference
/// of the means is taken between displacements if both start at the same mean and have not gone
/// far, and is refused when rounding could be seen in the fourth digit.
///
/// Throws   as OuDistribution::at, whiten and compare_precisely.
[[nodiscard]] WhitenedPair whiten_at(const OuDistribution& p, const OuDistribution& q, double time);

}  // namespace sfumato
