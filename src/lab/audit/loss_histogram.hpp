#pragma once

#include <string>
#include <vector>

#include "sfumato/core/pair.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato::lab {

/// Losses of the differing record over the models of D and of D': a point each where there are fewer than 50 of
/// a world, otherwise in common bins with round edges; on a logarithmic axis where they are far apart. Without series
/// if there are none.
/// Throws   InternalError for NaN.
[[nodiscard]] Figure loss_histogram(const std::string& key, const std::string& title,
                                    const Pair<std::vector<double>>& losses);

}  // namespace sfumato::lab
