#pragma once

#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// KL and delta over time or steps, both directions.
void add_training_figures(const QuadraticAnswer& answer, Document& document);

/// The trade-off curve of the last observation that has a risk.
void add_tradeoff(const QuadraticAnswer& answer, Document& document);

}  // namespace sfumato
