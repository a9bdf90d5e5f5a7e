#pragma once

#include <vector>

#include "sfumato/data/keys/key.hpp"

namespace sfumato {

/// What to say about each output.
struct RiskQuestions {
  std::vector<double> epsilons = {1.0};
  std::vector<double> deltas = {1e-5};
  std::vector<double> renyi_orders = {2.0};
  std::vector<double> false_positive_rates = {0.01, 0.001};
};

/// The keys of [risk].
[[nodiscard]] const Keys<RiskQuestions>& risk_keys();

/// The table [risk] of a problem file, or its defaults. Throws as read_keys().
[[nodiscard]] RiskQuestions read_risk(const TomlTable& root);

/// Throws   InvalidArgument at the key whose list is empty or holds a number out of its range.
void require_risk(const RiskQuestions& questions);

}  // namespace sfumato
