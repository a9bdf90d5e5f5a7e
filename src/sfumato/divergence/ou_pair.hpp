#pragma once

#include <Eigen/Core>
#include <string>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "sfumato/sde/ou_pair.hpp"

namespace sfumato {

/// The two distributions at `time` against each other, +inf for the long run.
/// Throws   as whiten_at; NumericalFailure also where noise acts in every direction and yet a rank was
///          lost: to rounding, so that the pair would look certain to tell apart.
[[nodiscard]] WhitenedPair distributions_at(const OuPair& pair, double time);

/// The exact KL(p_t || q_t) of the distributions at `time`, +inf for the long run; throws as whiten_at.
[[nodiscard]] Claimed<Nats> exact_kl(const OuPair& pair, double time);

/// Why there is no bound when start_kl is infinite.
inline constexpr const char* kStartsApart =
    "the KL of the two starts is infinite; start both from distributions with a density";

/// KL of the two starts, 0 when they are the same: what every bound of the pair is added to.
[[nodiscard]] double start_kl(const GaussianDistribution& p, const GaussianDistribution& q);

/// D_s = E_{p_s} |Sigma^{-1/2} (b - b')|^2 for linear drifts and the covariance of p (Spec §6.2).
///
///   b - b' = -(M x - c),  M = A - A',  c = pull - pull'
///   D_s = |Sigma^{-1/2} (M m_s - c)|^2 + tr( M Sigma^{-1} M V_s )
///
/// In the eigenbasis of A a time costs O(d^2); the mean enters as m_0 plus the displacement, so
/// that D_s keeps its digits where the drifts agree at the start. M and c are differences of the losses as
/// they were given; D_s is rounded up.
class OuDriftGap {
 public:
  /// Throws InvalidArgument as OuDistribution; NumericalFailure if the noise of p is singular.
  OuDriftGap(const OuProcess& p, const GaussianDistribution& start, const OuProcess& q);

  /// D_s at a finite time; +inf if it overflows.
  [[nodiscard]] double at(double time) const;

  /// The limit of D_s as s -> inf, +inf if there is none.
  [[nodiscard]] double limit() const;

  /// Both drifts are the same function, so that D_s = 0.
  [[nodiscard]] bool vanishes() const { return constant_ && start_gap_.isZero(0.0); }

  /// The shortest time in which D_s can change: 1 / (2 |A|).
  [[nodiscard]] double time_scale() const;

 private:
  /// |Sigma^{-1/2} (M m_s - c)|^2 for the displacement of the mean in the eigenbasis, rounded up.
  [[nodiscard]] double mean_gap(const Eigen::VectorXd& moved) const;

  OuDistribution distribution_;
  bool constant_;              ///< M = 0
  double rounded_up_ = 1.0;    ///< for the rounding of Sigma^{-1/2}
  Eigen::MatrixXd weight_;     ///< R^T R with R = Sigma^{-1/2} M Q
  Eigen::MatrixXd root_;       ///< R
  Eigen::VectorXd start_gap_;  ///< Sigma^{-1/2} (M m_0 - c)
  Eigen::VectorXd force_;      ///< Q^T (pull - A m_0)
  Eigen::MatrixXd noise_;      ///< Q^T Sigma Q
  Eigen::MatrixXd spread_;     ///< Q^T V_0 Q
};

}  // namespace sfumato
