#pragma once

#include "sfumato/privacy/accounting/total_loss.hpp"

namespace sfumato {

/// A probability between two ends, as logarithms: it may be e^-10000.
struct LogEnclosure {
  double log_lo;  ///< -inf where nothing but 0 is known
  double log_hi;
};

/// K(s) = log E_P e^{sT} where nothing fails, for s > -1, with its derivatives, and by how much K may be off.
struct TotalCumulant {
  double value, mean, variance;
  double error;
};
[[nodiscard]] TotalCumulant cumulant(const TotalLoss& loss, double s);

/// c(s) + K(s) - s eps with c(s) = s log s - (1 + s) log(1 + s), rounded up: log delta(eps) is at most that for every
/// s >= 0 (Spec §4.3, §18.4).
[[nodiscard]] double log_chernoff(const TotalLoss& loss, double eps, double s);

/// How much work a contour may take: nodes on it times nodes of the steps.
inline constexpr double kContourWork = 2e6;

/// delta(eps) = E_P (1 - e^{eps - T})_+ of a loss without failure by a contour through the saddle point (Spec §17.4, §18.1 to §18.4), always
/// an enclosure; at worst the Chernoff bound and max(0, 1 - e^eps). Where |E e^{sT}| decays too slowly for the work,
/// a normal step is added that is small enough not to matter and large enough to end the sum (Spec §18.6).
///
/// Cost does not depend on the number of steps.
/// Throws   NumericalFailure if nothing at all can be computed: never, for steps that are valid.
[[nodiscard]] LogEnclosure contour_delta(const TotalLoss& loss, double eps,
                                         double work = kContourWork);

}  // namespace sfumato
