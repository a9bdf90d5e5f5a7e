#pragma once

#include <map>
#include <memory>
#include <optional>

#include "sfumato/account/contour/contour.hpp"
#include "sfumato/account/contour/exchanged_pair.hpp"
#include "sfumato/account/contour/hyperbolic_contour.hpp"
#include "sfumato/account/contour/plain_transform.hpp"
#include "sfumato/account/contour/single_step_bounds.hpp"
#include "sfumato/account/contour/split_contour.hpp"
#include "sfumato/account/contour/total_loss.hpp"

namespace sfumato {

/// delta(eps) of a loss without failure and shift, keeping the points and contours of one eps for the next (Spec §17.5, §18.7).
class DeltaCurve {
 public:
  /// `loss` must be valid.
  explicit DeltaCurve(const TotalLoss& loss);

  enum class Method { closed_form, contour, split };
  struct Point {
    LogEnclosure log;
    Method method;
    double log_slope;  ///< d log delta / d eps, an estimate; NaN where there is none
  };
  [[nodiscard]] Point at(double eps);

  /// At least log delta(eps) for every eps >= 0, without a contour.
  [[nodiscard]] double log_most();

  /// About the eps at which log delta is log_target, from the saddle point alone; nothing where it is no help.
  [[nodiscard]] std::optional<double> guess(double log_target);

  /// About the threshold that the loss exceeds with the probability `fpr` under Q.
  [[nodiscard]] double threshold_guess(double fpr);

 private:
  [[nodiscard]] Work scaled(Work work) const;
  [[nodiscard]] const TotalCumulant& start();
  [[nodiscard]] const TotalCumulant& exchanged_start();
  [[nodiscard]] bool leads_by_sampled();
  [[nodiscard]] LogEnclosure known_at(double eps);
  [[nodiscard]] Point computed_at(double eps);
  [[nodiscard]] Point exchanged_at(double eps);
  [[nodiscard]] Point contour_at(double eps, Strip strip);
  [[nodiscard]] std::optional<Contour> right_contour(const Saddle& at, double eps);
  [[nodiscard]] std::optional<Contour> left_of_saddle(const Saddle& at, double eps);
  void intersect_split(double eps, Point* point);

  /// Contours that help near one eps of a fixed sequence, where sampled steps are rare. Decided there, an answer does not depend on what was asked before.
  struct Region {
    std::optional<HyperbolicContour> hyperbolic;
    std::optional<Contour> right;
    std::optional<ExchangedContour> exchanged;
    std::optional<SplitContour> split;
    bool is_simple = false;     ///< the first is narrow, and alone
    double log_chernoff = 0.0;  ///< at s_chernoff, without -s eps
    double s_chernoff = 0.0;
  };
  [[nodiscard]] const Region& region_of(double eps);
  [[nodiscard]] Region region_around(double centre);
  [[nodiscard]] std::optional<Point> region_at(double eps);

  TotalLoss loss_;
  Work work_;
  PlainTransform plain_;
  double last_saddle_ = 0.0;
  std::optional<TotalCumulant> start_;  ///< at s = 0
  std::optional<Contour> right_, middle_;
  std::optional<SplitContour> split_;
  std::unique_ptr<DeltaCurve> exchanged_curve_;

  std::optional<SingleStepBounds> single_steps_;  ///< where they are rare
  std::optional<PlainTransform> exchanged_;
  std::optional<TotalCumulant> exchanged_start_;
  std::map<int, Region> regions_;
};

}  // namespace sfumato
