#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// delta(eps) of few steps with rare sampled steps from a contour that opens to the right (Spec §18.10). On a vertical line the transform of a peak
/// beside rare sampled steps decays slowly, and e^{-s eps} turns all the way; on the hyperbola s(w) = c + a cosh(w + i psi) that factor decays
/// too, and some hundred points serve.
class HyperbolicContour {
 public:
  /// For about this eps >= 0, through about the saddle; nothing for steps other than sampled ones in the direction `remove`, and where no
  /// hyperbola serves.
  [[nodiscard]] static std::optional<HyperbolicContour> at(const TotalLoss& loss,
                                                           const Saddle& saddle, double eps);

  [[nodiscard]] LogEnclosure enclosure(double eps) const;
  /// d log delta / d eps, an estimate.
  [[nodiscard]] double log_slope(double eps) const;

 private:
  /// An integral over a part of a hyperbola: log of it at eps = 0, and the least x.
  struct Part {
    double log, x;
  };
  struct Node {
    std::complex<double> s, f;  ///< f over the unit, with the weight of the rule
    double error;
  };
  class Builder;
  struct Sums {
    double value, slope, rounding;
  };
  [[nodiscard]] Sums sums_at(double eps) const;

  double abscissa_ = 0.0;  ///< where it crosses the real axis
  double log_unit_ = 0.0;  ///< of the values, at eps = 0
  std::vector<Node> nodes_;
  std::vector<Part> beyond_;        ///< of the sum that is left out
  std::vector<Part> left_, right_;  ///< of the integrals on the hyperbolas to both sides
  double log_rule_ = 0.0;           ///< e^{2 pi d / h} - 1
};

}  // namespace sfumato
