#include "sfumato/divergence/vertex_rounding.hpp"

#include <cmath>
#include <limits>

namespace sfumato {

double vertex_rounding(const PrivacyLoss& loss, double eps) {
  double size = std::abs(eps);
  for (const auto& term : loss.terms)
    size += term.count * std::abs(term.vertex);  // of two terms of one sign
  const auto terms = static_cast<double>(loss.terms.size());
  return (8.0 + 2.0 * terms) * std::numeric_limits<double>::epsilon() * size;
}

}  // namespace sfumato
