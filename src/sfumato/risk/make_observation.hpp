#pragma once

#include <string>

#include "sfumato/risk/observation.hpp"

namespace sfumato {

/// How observations are made: internal to observation.cpp and training_pair.cpp.

/// Fills in the risk of two laws.
void set_laws(Observation& observation, const WhitenedPair& pair, bool equal_covariances);

/// Reasons of D and D', said once when they are the same.
[[nodiscard]] std::string joined_reasons(const std::string& d, const std::string& d_prime);

}  // namespace sfumato
