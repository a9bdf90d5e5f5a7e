#pragma once

#include <vector>

#include "sfumato/answers/quadratic/observation.hpp"
#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// Computes everything a problem asks for and lays it out: the problem, risk, (epsilon, delta),
/// Renyi, bounds of a chain, accuracy, noise floor, figures.
///
/// Tells `observer` how far it is; when asked to stop it leaves out what it has not reached, and the
/// document says so.
/// Throws   as observe_release.
[[nodiscard]] Document quadratic_document(const QuadraticProblem& problem, Observer& observer);

}  // namespace sfumato
