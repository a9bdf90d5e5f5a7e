#pragma once

#include <string>

#include "sfumato/problem/risk_questions.hpp"
#include "sfumato/problem/sde_problem.hpp"

namespace sfumato {

/// How far apart can two stochastic differential equations be, at these times?
struct BoundQuestion {
  SdeProblem problem;
  RiskQuestions risk = {};  ///< epsilons and the first delta
};

/// The question of a problem file; docs/bound.md explains its keys.
/// Throws   InvalidArgument with file:line:column, and as the readers of the files it names; NumericalFailure
///          where a problem on data has no minimiser.
[[nodiscard]] BoundQuestion read_bound_question(const std::string& path);

}  // namespace sfumato
