#pragma once

#include <string>
#include <vector>

#include "sfumato/answers/problem/risk_questions.hpp"
#include "sfumato/answers/problem/sde_problem.hpp"

namespace sfumato {

/// How far apart can two stochastic differential equations be, at these times?
struct BoundQuestion {
  SdeProblem problem;
  RiskQuestions risk = {};  ///< epsilons and the first delta
};

/// All keys of a problem file, by table; docs/bound.md explains them.
[[nodiscard]] const std::vector<KeyInfo>& bound_keys();

/// The question of a problem file, with what the command line puts over it. `source` names it in the output.
/// Throws   as read_sde_problem().
[[nodiscard]] BoundQuestion read_bound_question(const TomlTable& root, const std::string& source);

}  // namespace sfumato
