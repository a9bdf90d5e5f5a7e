#pragma once

#include <vector>

#include "sfumato/account/contour/allocation_moments.hpp"
#include "sfumato/account/contour/phase_rows.hpp"
#include "sfumato/account/contour/real_grid.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "sfumato/account/contour/total_loss.hpp"
#include "sfumato/account/contour/transform.hpp"

namespace sfumato {

/// prod M^k of the steps of a ledger and its normal loss; without failure and shift.
class PlainTransform final : public Transform {
 public:
  PlainTransform(const TotalLoss& loss, Work* work);

  [[nodiscard]] TotalCumulant at(double s) override;
  [[nodiscard]] double highest_abscissa() const override;
  void set_abscissa(double s0) override;
  [[nodiscard]] double log_beyond(double reach, double enough) override;
  [[nodiscard]] double terms_for(const Rows& rows) override;
  [[nodiscard]] bool prepare(const Rows& rows) override;
  [[nodiscard]] Value value(std::size_t n) const override;

 private:
  struct Entry {
    StepLoss step;
    double k;
    std::optional<RealGrid> grid;
    StepCumulant here;                ///< at s0
    TiltedDistribution distribution;  ///< at s0
    PhaseRows rows;
    std::optional<AllocationMoments> moments;  ///< of steps without points
    AllocationMoments::Line line;
  };
  [[nodiscard]] StepCumulant cumulant_of(Entry& entry, double s);

  std::vector<Entry> entries_;
  const Observer* observer_;
};

}  // namespace sfumato
