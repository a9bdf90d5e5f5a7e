#pragma once

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/math/whitened_pair.hpp"

namespace sfumato {

/// KL(P || Q) of two normal distributions in nats; the other direction is that of swapped(pair).
///
///   Spec §2, stable form:   KL = 1/2 sum_i [ psi(1 / lam_i) + c_i^2 / lam_i ]
///
/// Edges   mutually singular distributions give +inf, identical ones exactly 0.
[[nodiscard]] Claimed<Nats> gaussian_kl(const WhitenedPair& pair);

/// Renyi divergence D_order(P || Q) in nats.
///
///   Spec §2, with u = lam - 1:
///   D_a = a/2 sum c^2 / (1 + a u) + 1/2 sum [ psi(1/lam) + psi(1 + x) / (a - 1) ],  x = (a-1) u/lam
///
/// Edges   +inf if some 1 + a u <= 0 (only for a > 1) or the distributions are mutually singular; the KL at
///         a = 1, approached without cancellation.
/// Throws  InvalidArgument unless order is finite and positive.
[[nodiscard]] Claimed<Nats> gaussian_renyi(const WhitenedPair& pair, double order);

/// The order from which on D_order(P || Q) is infinite: 1/(1 - lam) for the smallest variance ratio lam < 1, +inf where
/// every order is finite (Spec §27.11). Unequal covariances have a finite one in at least one direction, so that no
/// mu-GDP and no Renyi bound of all orders can hold for them.
[[nodiscard]] double renyi_critical_order(const WhitenedPair& pair);

/// Whether a relative entropy of the pair is above 1e15: log-likelihood ratios of that size have no
/// digits left for an epsilon. Never for mutually singular distributions, where everything is known.
[[nodiscard]] bool too_far_apart(const WhitenedPair& pair);
inline constexpr const char* kTooFarApart =
    "the distributions are too far apart for double precision: the KL is above 1e15";

}  // namespace sfumato
