#pragma once

#include <memory>
#include <optional>

#include "sfumato/privacy/accounting/contour.hpp"
#include "sfumato/privacy/accounting/plain_transform.hpp"
#include "sfumato/privacy/accounting/split.hpp"
#include "sfumato/privacy/accounting/total_loss.hpp"

namespace sfumato {

/// delta(eps) of a loss without failure and shift, keeping the points and contours of one eps for the next (Spec §17.5, §18.7).
class DeltaCurve {
 public:
  /// `loss` must be valid.
  explicit DeltaCurve(const TotalLoss& loss);

  enum class Method { edge, contour, split };
  struct Point {
    LogEnclosure log;
    Method method;
    double log_slope;  ///< d log delta / d eps, an estimate; NaN where there is none
  };
  [[nodiscard]] Point at(double eps);

  /// About the eps at which log delta is log_target, from the saddle point alone; nothing where it is no help.
  [[nodiscard]] std::optional<double> guess(double log_target);

 private:
  [[nodiscard]] const TotalCumulant& start();
  [[nodiscard]] Point computed_at(double eps);
  [[nodiscard]] Point swapped_at(double eps);
  [[nodiscard]] Point contour_at(double eps, Strip strip);
  [[nodiscard]] std::optional<Contour> right_contour(const Saddle& at, double eps);
  [[nodiscard]] std::optional<Contour> left_of_saddle(const Saddle& at, double eps);
  void intersect_split(double eps, Point* point);

  TotalLoss loss_;
  Work work_;
  PlainTransform plain_;
  double last_saddle_ = 0.0;
  std::optional<TotalCumulant> start_;  ///< at s = 0
  std::optional<Contour> right_, middle_;
  std::optional<SplitContour> split_;
  std::unique_ptr<DeltaCurve> swapped_;
};

}  // namespace sfumato
