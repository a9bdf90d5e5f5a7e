#pragma once

#include "sfumato/fit/linear_model.hpp"
#include "sfumato/fit/private_fit.hpp"

namespace sfumato {

/// Takes the scaling of the features, and of a quantity, back.
[[nodiscard]] LinearModel in_units_of_table(const PrivateFit& fit, const PublicTable& table,
                                            FitModel model);

}  // namespace sfumato
