#pragma once

#include <vector>

namespace sfumato {

/// What to say about each output.
struct RiskQuestions {
  std::vector<double> epsilons = {1.0};
  std::vector<double> deltas = {1e-5};
  std::vector<double> renyi_orders = {2.0};
  std::vector<double> false_positive_rates = {0.01, 0.001};
};

}  // namespace sfumato
