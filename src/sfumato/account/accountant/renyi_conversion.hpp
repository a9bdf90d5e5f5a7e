#pragma once

#include <functional>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// delta(eps) <= (1/(a-1)) (1 - 1/a)^a e^{(a-1)(D_a - eps)}, at most 1, for distributions whose Renyi
/// divergence of order a is at most `renyi` (Spec §4.3). Rounded up.
///
/// Edges   renyi = +inf gives 1; epsilon = +inf gives 0 for finite renyi.
/// Throws  InvalidArgument unless 1 < order < +inf.
[[nodiscard]] Claimed<Delta> delta_from_renyi(Nats renyi, double order, Epsilon epsilon);

/// eps(delta) <= D_a + log(1 - 1/a) - log(a delta)/(a-1), at least 0 (Spec §4.3). Rounded up.
///
/// Edges   delta = 1 gives 0; otherwise delta = 0 or renyi = +inf gives +inf.
/// Throws  InvalidArgument unless 1 < order < +inf.
[[nodiscard]] Claimed<Epsilon> epsilon_from_renyi(Nats renyi, double order, Delta delta);

/// A divergence as a function of its order; +inf where it does not exist.
using RenyiCurve = std::function<Nats(double order)>;

struct OrderRange {
  double lowest = 1.0 + 1e-3;
  double highest = 1e6;
};

/// The best of epsilon_from_renyi over the orders of `range`, by Brent's method in log(order - 1).
///
/// Every order gives a valid bound, so a search that stops early is only a little loose. For the
/// curve of one pair of distributions the minimum is found to 1e-8. The method names the order that was used.
/// Throws  InvalidArgument unless 1 < lowest <= highest < +inf.
[[nodiscard]] Claimed<Epsilon> epsilon_from_renyi_curve(const RenyiCurve& curve, Delta delta,
                                                        const OrderRange& range = {});

}  // namespace sfumato
