#pragma once

#include <functional>
#include <vector>

#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/divergence/ou_pair.hpp"

namespace sfumato {

/// D_s = E_{p_s} |Sigma^{-1/2} (b - b')|^2 as a function of the time s, for one constant Sigma.
struct DriftGap {
  std::function<double(double time)> at;
  double time_scale;  ///< shortest time in which it changes near s = 0; +inf when not known
};

/// 1/2 integral of D over [0, time] (Spec §6.2 (1)): the KL of the two path distributions for a common
/// start, rounded up by the quadrature. Finite times only.
[[nodiscard]] double path_bound(const DriftGap& gap, double time);

/// B_kappa(t) = 1/(1 + e^{-kappa t}) integral of e^{-kappa (t-s)} D_s over [0, t]  (Spec §6.3 (1)),
/// rounded up; kappa = 0 is the path bound. Finite times only.
///
/// Assumes  q's drift is kappa-contractive in the metric of Sigma, Sigma = Sigma' constant and
///          positive definite, a common start.
/// Throws   InvalidArgument if kappa is negative or not finite.
[[nodiscard]] double contractive_bound(const DriftGap& gap, double kappa, double time);

/// A contractive bound with the rate behind it.
struct ContractiveBound {
  KlBound bound;
  double
      proven_rate;  ///< kappa in the metric of the noise; negative when q's drift does not contract
  double used_rate;  ///< in [0, max(proven_rate, 0)]: where the bound is smallest
};

/// The smallest B_kappa~(t) over kappa~ in [0, kappa]; each is a bound of its own, so the search
/// need not be exact. A rate below zero is replaced by zero, and the assumptions say so.
[[nodiscard]] ContractiveBound best_contractive_bound(const DriftGap& gap, double kappa,
                                                      double time);

/// The best contractive bound of an Ornstein-Uhlenbeck pair, plus the KL of the starts (the shifted
/// process of the proof starts where p does, and the chain rule adds the rest; Spec §16.2).
///
/// Edges    infinite, with the reason, when the covariances differ or are singular or the starts
///          are mutually singular; time = +inf gives D_inf / kappa where D_s has a limit and
///          kappa is positive.
/// Throws   InvalidArgument if time is negative or NaN, otherwise as OuDistribution.
[[nodiscard]] ContractiveBound best_contractive_bound(const OuPair& pair, double time);

/// The path bound of the pair, plus the KL of the starts; edges and throws as above.
[[nodiscard]] KlBound path_bound(const OuPair& pair, double time);

}  // namespace sfumato
