#pragma once

#include <string>
#include <vector>

#include "sfumato/core/pair.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato {

/// Losses of the differing record over the models of D and of D', in common bins with round edges; without
/// series if there are none.
/// Throws   InternalError for NaN.
[[nodiscard]] Figure loss_histogram(const std::string& key, const std::string& title,
                                    const Pair<std::vector<double>>& losses);

}  // namespace sfumato
