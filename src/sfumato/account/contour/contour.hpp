#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "sfumato/account/contour/log_enclosure.hpp"
#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/account/contour/transform.hpp"

namespace sfumato {

/// Where a line crosses the real axis: right of the pole at 0 the integral is delta, in the middle of both poles it is 1 - delta (Spec §17.4).
enum class Strip { right, middle };

/// Where the integrand is smallest on the real axis of a strip, roughly: the value does not depend on it, only its cost does.
struct Saddle {
  double s;
  TotalCumulant at;
  bool is_capped = false;  ///< it is beyond the highest abscissa
};
/// `start` is where to begin.
[[nodiscard]] Saddle saddle(Transform& transform, double eps, Strip strip, double start);

/// delta(eps) = E (1 - e^{eps - T})_+ under a positive measure of T from its transform on a line through the saddle point (Spec §17.4,
/// §18.1 to §18.4): the values on the line are computed once and serve every eps whose saddle is near. Where the transform decays too
/// slowly for the work, a normal loss is added that is small enough not to matter and large enough to end the sum (Spec §18.6).
class Contour {
 public:
  /// Nothing where the work does not allow an enclosure.
  [[nodiscard]] static std::optional<Contour> through(Transform& transform, const Saddle& at,
                                                      Strip strip, double eps, Work* work);

  /// Whether the saddle of eps is about as near as that of the eps it was made for.
  [[nodiscard]] bool serves(double eps) const;

  [[nodiscard]] LogEnclosure enclosure(double eps) const;

  /// d log delta / d eps; an estimate, of the right strip.
  [[nodiscard]] double log_slope(double eps) const;

  /// c(s) + K(s) - s eps at the saddle: an upper bound of log delta (Spec §4.3).
  [[nodiscard]] double log_chernoff(double eps) const;

 private:
  /// Where the measure beyond a threshold is bounded: log of c(s) + K(s), rounded up.
  struct Place {
    double s, log_a;
  };
  struct Node {
    double y;
    std::complex<double> f;  ///< transform / (s (s+1)) over the unit, half of it at y = 0
    double modulus, error;   ///< of the transform itself, half of them at y = 0
  };
  struct Sums;

  Contour(const Saddle& at, Strip strip, double eps) : at_(at), strip_(strip), made_for_(eps) {}
  void find_places(Transform& transform, double eps, double log_target);
  [[nodiscard]] double period_for(double eps, double log_target) const;
  [[nodiscard]] double log_aliases(double eps) const;
  [[nodiscard]] bool find_reach(Transform& transform, double eps, double log_target, Work* work);
  [[nodiscard]] bool fill(Transform& transform);
  [[nodiscard]] Sums sums_at(double eps) const;

  Saddle at_;
  Strip strip_;
  double made_for_;  ///< eps
  std::vector<Place> above_, below_;
  double period_ = 0.0, reach_ = 0.0;
  double smoothing_ = 0.0;   ///< mu0^2
  double log_unit_ = 0.0;    ///< of the values on the line
  double log_beyond_ = 0.0;  ///< of what is left out, over the unit
  std::vector<Node> nodes_;
  double rounding_ = 0.0, rounding_per_eps_ = 0.0;
};

}  // namespace sfumato
