#pragma once

#include <cmath>
#include <vector>

namespace sfumato::testing {

/// The first form of Spec §8.3, term by term:  (1 + c)/(2 (1 + c^k)) sum_j c^{k-1-j} d_j^2.
inline double chain_sum(const std::vector<double>& gaps, double lipschitz) {
  double sum = 0.0;
  for (const double gap : gaps) sum = lipschitz * sum + gap * gap;
  const double power = std::pow(lipschitz, static_cast<double>(gaps.size()));
  return gaps.empty() ? 0.0 : 0.5 * (1.0 + lipschitz) / (1.0 + power) * sum;
}

}  // namespace sfumato::testing
