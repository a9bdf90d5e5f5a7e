#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfumato/audit/shadow_scores.hpp"

namespace sfumato {

/// LOSS, LiRA online and offline, and RMIA, each model being attacked with the others as shadow models;
/// one that needs more shadow models has the problem in place of scores.
[[nodiscard]] std::vector<NamedAttack> shadow_attacks(const ShadowScores& shadows);

/// Half of the models, at random, fit LiRA; the others are attacked on one record each, which makes their
/// scores independent.
[[nodiscard]] ScoreSample shadow_sample(const ShadowScores& shadows, std::uint64_t seed);

}  // namespace sfumato
