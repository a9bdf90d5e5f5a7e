#pragma once

#include "sfumato/fit/private_fit.hpp"

namespace sfumato {

/// The covariance of the parameters by noise and sampling, from what was released alone (Spec §22.8); or why it cannot be trusted: directions that the
/// descent did not reach, clipping that acts, nothing known of the residuals.
void add_intervals(const PublicTable& table, const FitPlan& plan, PrivateFit* fit);

}  // namespace sfumato
