#pragma once

#include <optional>
#include <vector>

#include "sfumato/account/contour/phase_rows.hpp"
#include "sfumato/account/contour/real_grid.hpp"
#include "sfumato/account/contour/split_point.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "sfumato/account/contour/transform.hpp"

namespace sfumato {

/// prod M^k - prod A^k for steps that are cut in two, M = A + B (Spec §18.5): the transform of the losses with at least one sampled step.
class SplitTransform final : public Transform {
 public:
  SplitTransform(const std::vector<RatioStep>& steps, const std::vector<SplitPoint>& cuts,
                 double mu_squared, Work* work);

  [[nodiscard]] TotalCumulant at(double s) override;
  [[nodiscard]] double highest_abscissa() const override;
  void set_abscissa(double s0) override;
  [[nodiscard]] double log_beyond(double reach, double enough) override;
  [[nodiscard]] double terms_for(const Rows& rows) override;
  [[nodiscard]] bool prepare(const Rows& rows) override;
  [[nodiscard]] Value value(std::size_t n) const override;

  /// log E e^{sT} over the losses without a sampled step and its derivative, rounded up: nothing where s is too large.
  struct Unsampled {
    double log, mean;
  };
  [[nodiscard]] std::optional<Unsampled> unsampled_at(double s);

 private:
  struct Entry {
    RatioStep step;
    SplitPoint cut;
    RealGrid grid;
    SplitCumulant here;                  ///< at s0
    TiltedDistribution distribution;     ///< at s0
    std::vector<double> sampled_weight;  ///< of each weight of the distribution
    double sampled_share, sampled_slope,
        sampled_floor;  ///< sum of these; its error: slope |y| + floor
    PhaseRows all_rows, sampled_rows;
  };

  std::vector<Entry> entries_;
};

}  // namespace sfumato
