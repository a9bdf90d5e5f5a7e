#pragma once

#include <cstddef>
#include <vector>

#include "sfumato/fit/private_fit.hpp"

namespace sfumato {

/// One of several private fits, chosen on rows that none of them saw.
struct ChosenFit {
  std::size_t index;  ///< of the plan
  PrivateFit fit;
};

/// Makes every fit, each with its own plan and noise, and takes the one with the least noisy sum of losses over the held-out rows; what is chosen is then
/// evaluated on the same rows (Spec §21.5). The fits are releases about the fitted rows; the choice and the accuracy share `held_out_mu` of the others.
/// Losses are squared errors up to (0.6 half the declared range)^2 or wrong classes, in [0, 1] after scaling; each record's midrange is subtracted.
/// Throws   InvalidArgument if there are less than two plans, or no rows are held out; as private_fit().
[[nodiscard]] ChosenFit choose_fit(const RowSource& source, const PublicTable& table,
                                   const std::vector<FitPlan>& plans, double held_out_mu,
                                   const std::vector<ReleaseKey>& keys, Observer& observer);

/// Each record's losses less their midrange: no longer than sqrt(candidates) / 2, since no loss is outside [0, 1].
void centre_losses(Eigen::Ref<Eigen::ArrayXd> losses);

}  // namespace sfumato
