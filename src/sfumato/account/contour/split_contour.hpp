#pragma once

#include <optional>

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// delta(eps) where sampled steps are rare (Spec §18.5). With few expected sampled steps the loss is nearly 0 with large probability, and
/// the sum over a plain contour cancels. M = A + B, cut smoothly between the unsampled part of the losses and those of a sampled step:
///
///   delta(eps) = I[ prod M^k - prod A^k ] + delta_A,    0 <= delta_A <= a Chernoff bound of A
///
/// I is the integral of a Contour; what is in brackets is the transform of a positive measure, so that its aliases are positive too.
class SplitContour {
 public:
  /// The cut is made for eps. Nothing for ledgers with steps in the direction `add`, whose loss is bounded, for those with steps that have
  /// no sampled steps, and where no cut is good or the work would be too large.
  [[nodiscard]] static std::optional<SplitContour> at(const TotalLoss& loss, double eps,
                                                      Work* work);

  [[nodiscard]] bool serves(double eps) const { return contour_.serves(eps); }
  [[nodiscard]] LogEnclosure enclosure(double eps) const;
  [[nodiscard]] double log_slope(double eps) const { return contour_.log_slope(eps); }

 private:
  SplitContour(Contour contour, double s, double log_unsampled)
      : contour_(std::move(contour)), s_unsampled_(s), log_unsampled_(log_unsampled) {}

  Contour contour_;
  double s_unsampled_, log_unsampled_;  ///< log delta_A <= log_unsampled - s_unsampled eps
};

}  // namespace sfumato
