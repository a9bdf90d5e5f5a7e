#pragma once

#include <array>
#include <vector>

#include "sfumato/core/pair.hpp"
#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/risk/observation.hpp"

namespace sfumato {

/// Both directions, forward and reverse, after each of the numbers of steps.
[[nodiscard]] std::vector<std::array<ChainBounds, 2>> chain_bounds(
    const Pair<QuadraticTraining>& data, double learning_rate, const std::vector<double>& steps);

}  // namespace sfumato
