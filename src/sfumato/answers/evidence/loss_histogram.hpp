#pragma once

#include <string>
#include <vector>

#include "sfumato/core/pair.hpp"
#include "sfumato/report/figure.hpp"

namespace sfumato {

/// Losses of the differing record over the models of D and of D', in common bins, the distance of their
/// means in the title.
/// Assumes  each world has a loss, and all are finite.
[[nodiscard]] Figure loss_histogram(const std::string& policy,
                                    const Pair<std::vector<double>>& losses);

}  // namespace sfumato
