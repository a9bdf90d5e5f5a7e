#pragma once

#include <cstdint>
#include <vector>

#include "lab/study/spec/study.hpp"
#include "sfumato/audit/shadow_attacks.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

/// One model of a world that coins made.
struct CoinRun {
  /// Logit of the confidence in each canary or record; of gradient canaries what the steps moved along them.
  std::vector<double> scores;
  std::vector<std::uint8_t> included;  ///< 1 where the model was trained on it
};

/// What a ledger with canaries or shadow models holds of one noise policy.
struct CoinTrials {
  std::uint64_t trials = 0, diverged = 0, failed = 0;
  std::vector<CoinRun> runs;  ///< of the others, by replica
};
/// Of every policy of the study, whose ledger it is (study_of()).
/// Throws   InvalidArgument with the ledger's path for a model without coins and losses that fit.
[[nodiscard]] std::vector<CoinTrials> coin_trials(const Ledger& ledger, const Study& study);

/// The runs in LiRA's layout.
/// Throws   InvalidArgument if there are fewer than two.
[[nodiscard]] ShadowScores shadow_scores(const CoinTrials& trials);

}  // namespace sfumato::lab
