#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/divergence/bound_method.hpp"
#include "sfumato/divergence/convexity_bounds.hpp"
#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/ou_pair.hpp"

namespace sfumato {

/// The constants of Spec §7 for both directions; they need not agree because the start is nearer to
/// one minimiser.
struct PairConstants {
  LangevinConstants forward;
  LangevinConstants reverse;
  SmoothStart start;
};

/// Two stochastic differential equations, of data D and of data D', and what is proven about them.
struct SdePair {
  StartedDiffusion p;
  StartedDiffusion q;
  bool shares_noise = false;          ///< both have the same Sigma(t, x), constant or not
  std::optional<OuPair> linear = {};  ///< both drifts are linear and both noises constant
  /// S with |Sigma^{-1/2} (b(x) - b'(x))| <= S for all x and times; the claim is exact or upper.
  Known<Claimed<double>> sensitivity = {{},
                                        "no bound on |Sigma^(-1/2) (b - b')| for all x is known"};
  Known<PairConstants> constants = {{}, "needs a loss with known convexity constants"};
  /// Upper bounds on KL(p||q) and KL(q||p) of the invariant distributions (Spec §7.9).
  Known<std::array<double, 2>> stationary = {};
  /// Upper bounds on KL(p_t||q_t) and KL(q_t||p_t) from what the model is known to be (Spec §27.6); none without one.
  std::function<std::array<KlBound, 2>(double time)> model_bounds = {};
};

/// The pair with both diffusions linear: everything that follows from the matrices is filled in.
/// Throws   as OuDistribution.
[[nodiscard]] SdePair linear_pair(const OuPair& pair);

/// Whether both sides have the same constant Sigma, as Spec §6.2 to §6.4 need; the reason if not.
[[nodiscard]] Known<Covariance> common_noise(const SdePair& pair);

/// What Spec §7.6 needs of a normal start.
[[nodiscard]] SmoothStart smoothness(const GaussianDistribution& start);

/// Whether both sides have one Sigma, singular or not: by shares_noise, or equal constants.
[[nodiscard]] bool same_noise(const SdePair& pair);

/// Whether both sides start with the same distribution.
[[nodiscard]] bool same_start(const SdePair& pair);

/// One way to bound or compute KL(p_t || q_t) and KL(q_t || p_t).
struct PairBound {
  BoundMethod method;
  KlBound forward;
  KlBound reverse;
  std::string note = {};  ///< error of an estimate
};

/// The method with the smallest proven number of one direction, &PairBound::forward or ::reverse; the exact
/// value aside. The first of several; nullptr when nothing finite is proven.
[[nodiscard]] const PairBound* best_proven(const std::vector<PairBound>& methods,
                                           KlBound PairBound::*direction);
/// Its number; infinite when there is none.
[[nodiscard]] Claimed<Nats> best_proven_kl(const std::vector<PairBound>& methods,
                                           KlBound PairBound::*direction);

/// Everything that is known in closed form at one time: the exact value where both are linear, and
/// each proven bound of Spec §6 and §7, with the reason where it does not apply.
///
/// Time     >= 0 or +inf.
/// Throws   InvalidArgument if time is negative or NaN.
[[nodiscard]] std::vector<PairBound> closed_form_bounds(const SdePair& pair, double time);

/// mu of Spec §6.4 at one time, the rate of contraction being the larger of both drifts'; or why not.
[[nodiscard]] Known<GdpBound> gdp_bound(const SdePair& pair, double time);

}  // namespace sfumato
