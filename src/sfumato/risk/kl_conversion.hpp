#pragma once

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Bounds of an attacker by a relative entropy alone, with no assumption on the distributions.
///
/// Throughout, `kl` is KL(p||q) or an upper bound on it. *Forward* speaks of p against q (records
/// of p are the positives), *reverse* of q against p, both from the same KL(p||q). The results are
/// upper bounds: rounded up by 1e-12 of their value, which covers the rounding of every step, and
/// within 1e-11 of the best bound that holds for all pairs with this KL.

/// Pinsker: sqrt(kl / 2), which exceeds 1 for kl > 2 (Spec §4.1).
[[nodiscard]] Claimed<double> pinsker_bound(Nats kl);

/// Bretagnolle-Huber: sqrt(1 - e^{-kl}) (Spec §4.1).
[[nodiscard]] Claimed<double> bretagnolle_huber_bound(Nats kl);

/// Total variation, i.e. the advantage of a balanced membership test: the smallest of Pinsker,
/// Bretagnolle-Huber and the sharp bound T(kl) (Spec §4.1). Symmetric: use the smaller KL.
///
/// Edges   kl = 0 gives 0, kl = +inf gives 1.
[[nodiscard]] Claimed<double> total_variation_from_kl(Nats kl);

/// delta_{p,q}(eps) <= max { x - e^eps y : kl(x||y) <= kl }, attained by two-point distributions (Spec §4.2).
///
/// Edges   kl = 0 gives 0 and kl = +inf gives 1, for every eps; eps = +inf gives 0 for finite kl.
[[nodiscard]] Claimed<Delta> delta_from_kl_forward(Nats kl, Epsilon epsilon);

/// delta_{q,p}(eps) <= max { y - e^eps x : kl(x||y) <= kl } (Spec §4.2).
///
/// At least 1 - e^{-kl} for every eps, however large: a small delta needs KL(q||p) and the forward
/// bound.
/// Edges   as for delta_from_kl_forward, but eps = +inf gives 1 - e^{-kl}.
[[nodiscard]] Claimed<Delta> delta_from_kl_reverse(Nats kl, Epsilon epsilon);

/// The smallest epsilon whose forward bound is at most `delta`; +inf if there is none (delta = 0).
[[nodiscard]] Claimed<Epsilon> epsilon_from_kl_forward(Nats kl, Delta delta);

/// The smallest epsilon whose reverse bound is at most `delta`; +inf for every delta < 1 - e^{-kl}.
[[nodiscard]] Claimed<Epsilon> epsilon_from_kl_reverse(Nats kl, Delta delta);

/// Trade-off view: the largest p(A) over all tests with q(A) = `false_positive_rate`, i.e. the
/// largest x with kl(x||fpr) <= kl.
///
/// Edges   kl = 0 gives the rate itself; kl >= -log(fpr) gives 1; fpr = 0 gives 0 for finite kl.
/// Throws  InvalidArgument unless 0 <= false_positive_rate <= 1.
[[nodiscard]] Claimed<double> tpr_from_kl_forward(Nats kl, double false_positive_rate);

/// The largest q(A) over all tests with p(A) = `false_positive_rate`, i.e. the largest y with
/// kl(fpr||y) <= kl.
///
/// Edges   kl = 0 gives the rate itself; fpr = 0 gives 1 - e^{-kl}.
/// Throws  InvalidArgument unless 0 <= false_positive_rate <= 1.
[[nodiscard]] Claimed<double> tpr_from_kl_reverse(Nats kl, double false_positive_rate);

}  // namespace sfumato
