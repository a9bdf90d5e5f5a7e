#pragma once

#include "sfumato/privacy/accounting/contour.hpp"

namespace sfumato {

/// Where an enclosure came from.
enum class DeltaMethod {
  edge,     ///< a closed form or a limit
  contour,  ///< Spec §18.1 to §18.4
  split,    ///< Spec §18.5
};

struct DeltaEnclosure {
  LogEnclosure log;
  DeltaMethod method = DeltaMethod::contour;

  /// The ends as probabilities, rounded outwards.
  [[nodiscard]] double lo() const;
  [[nodiscard]] double hi() const;
};

/// delta(eps) = sup_A [ P(A) - e^eps Q(A) ] of composed steps in one direction: edges (Spec §17.6), then the contour, then, where it
/// is wider than 1e-8, the split of rare hits; enclosures that were computed are intersected (Spec §18.7).
///
/// Throws   InvalidArgument if a rate is outside (0, 1), a number of steps below 1 or not whole, an m not positive, or eps is NaN;
///          InternalError if two enclosures exclude each other.
[[nodiscard]] DeltaEnclosure delta_of(const TotalLoss& loss, double eps);

/// The smallest eps found with hi(eps) <= delta, and the largest found with lo(eps) > delta: the truth is between them (Spec §17.5).
struct EpsilonEnclosure {
  double lo, hi;
};
/// Edges    0 where delta >= hi(0); +inf for delta = 0 unless the loss is bounded.
[[nodiscard]] EpsilonEnclosure epsilon_of(const TotalLoss& loss, double delta);

}  // namespace sfumato
