#pragma once

#include <optional>

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/contour/plain_transform.hpp"
#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// delta(eps) of rare sampled steps from the pair exchanged (Spec §18.9), whose losses are those of the pair with their sign changed:
///
///   delta(eps) = 1 - e^eps + e^eps delta'(-eps),   eps >= 0
///
/// The abscissas of delta' weigh sampled steps by e^{-sT} instead of e^{sT}: what is left is one peak, of one scale, where the contour of delta itself
/// has to resolve the peak and reach as far as the sampled steps. The difference costs the digits by which delta is smaller than 1 - e^-eps.
class ExchangedContour {
 public:
  /// For about this eps; nothing where the work does not allow it. `exchanged` is the transform of the pair exchanged.
  [[nodiscard]] static std::optional<ExchangedContour> at(PlainTransform& exchanged, double eps,
                                                          Work* work);

  [[nodiscard]] LogEnclosure enclosure(double eps) const;
  /// d log delta / d eps; an estimate, NaN where there is none.
  [[nodiscard]] double log_slope(double eps) const;

 private:
  explicit ExchangedContour(Contour contour) : contour_(std::move(contour)) {}
  /// Ends of delta e^-eps.
  struct Ends {
    double low, high;
  };
  [[nodiscard]] Ends scaled(double eps) const;

  Contour contour_;
};

}  // namespace sfumato
