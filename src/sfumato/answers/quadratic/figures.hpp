#pragma once

#include <vector>

#include "sfumato/answers/quadratic/observation.hpp"
#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/answers/quadratic/training_pair.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// KL and delta at the first epsilon over time, or over steps; stops when `observer` asks to.
void add_training_figures(const QuadraticProblem& problem, const TrainingPair& training,
                          Observer& observer, Document& document);

/// The trade-off curve of the last output that has a law, if one has.
void add_tradeoff(const std::vector<Observation>& observations, Document& document);

}  // namespace sfumato
