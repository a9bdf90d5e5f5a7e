#pragma once

#include <string>

#include "sfumato/risk/observation.hpp"

namespace sfumato {

/// How observations are made: internal to observation.cpp and training_pair.cpp.

/// Fills in the risk of two distributions.
void set_distributions(Observation& observation, const WhitenedPair& pair, bool equal_covariances);

/// Reasons of D and D', said once when they are the same.
[[nodiscard]] std::string joined_reasons(const std::string& d, const std::string& d_prime);

}  // namespace sfumato
