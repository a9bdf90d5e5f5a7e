#pragma once

#include <optional>
#include <vector>

#include "sfumato/account/contour/density_ratio.hpp"
#include "sfumato/account/contour/split_point.hpp"

namespace sfumato {

/// K(s) of one step, its derivatives, and by how much it may be off.
struct StepCumulant {
  double value, mean, variance, error;
};

/// A step that was cut in two, at a real s: shares of M(s).
struct SplitCumulant {
  StepCumulant all;
  double sampled_share;  ///< B / M
  double sampled_mean;   ///< of the loss, tilted
  double sampled_variance;
  double sampled_error;  ///< of sampled, relative
};

/// log A of the unsampled part that a cut leaves, rounded up, and its derivative.
struct UnsampledCumulant {
  double log, mean;
};

/// The points of the trapezoidal rule for one step, kept for cumulants at many real s (Spec §18.1). They are placed for the largest s so
/// far; a larger one adds some, or, where the loss turns faster with s, places them anew.
class RealGrid {
 public:
  explicit RealGrid(const RatioStep& step) : step_(step) {}
  RealGrid(const RatioStep& step, const SplitPoint& cut) : step_(step), cut_(cut) {}

  /// Nothing where the points would be too many or e^{sL} too large for them: there tilted_distribution() finds the parts that count.
  [[nodiscard]] std::optional<StepCumulant> at(double s);

  /// The same of a grid with a cut.
  [[nodiscard]] std::optional<SplitCumulant> split_at(double s);
  [[nodiscard]] std::optional<UnsampledCumulant> unsampled_at(double s);

 private:
  [[nodiscard]] std::optional<std::size_t> points_for(double s, double farthest);
  [[nodiscard]] double farthest_for(double s) const;
  [[nodiscard]] double relative_error(std::size_t count, double s) const;
  [[nodiscard]] StepCumulant all_of(std::size_t count, double s) const;
  void place(double s);
  void extend(double reach);

  RatioStep step_;
  std::optional<SplitPoint> cut_;
  double designed_for_ = -2.0;  ///< the largest s that the spacing is good for
  double spacing_ = 0.0, start_ = 0.0;
  double largest_log_ = 0.0;  ///< of |log r| at the points and their mirrors
  std::vector<double> weight_, sampled_, unsampled_, offset_, loss_, roundings_;
};

}  // namespace sfumato
