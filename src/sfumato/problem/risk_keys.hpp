#pragma once

#include "sfumato/data/keys/key.hpp"
#include "sfumato/problem/risk_questions.hpp"

namespace sfumato {

/// The keys of [risk].
[[nodiscard]] const Keys<RiskQuestions>& risk_keys();

/// The table [risk] of a problem file, or its defaults. Throws as read_keys().
[[nodiscard]] RiskQuestions read_risk(const TomlTable& root);

/// Throws   InvalidArgument at the key whose list is empty or holds a number out of its range.
void require_risk(const RiskQuestions& questions);

}  // namespace sfumato
