#include "reproduce/equal_loss.hpp"

#include <algorithm>
#include <cmath>

namespace sfumato::apps {
namespace {

double square(double x) { return x * x; }

AucDifference difference(const LossAndAuc& p, const LossAndAuc& left, const LossAndAuc& right,
                         double z) {
  const double width = std::log(right.loss / left.loss);
  const double share = width > 0.0 ? std::log(p.loss / left.loss) / width : 0.0;
  const auto between = [share](double a, double b) { return (1.0 - share) * a + share * b; };
  const double auc = between(left.auc, right.auc);
  const double lower = between(left.auc_interval.lower, right.auc_interval.lower);
  const double upper = between(left.auc_interval.upper, right.auc_interval.upper);
  const double value = p.auc - auc;
  const double misplaced =
      square(p.loss_error / p.loss) +
      square(between(left.loss_error / left.loss, right.loss_error / right.loss));
  const double slope = width > 0.0 ? (right.auc - left.auc) / width : 0.0;
  if (!std::isfinite(misplaced)) return {p.loss, value, -1.0, 1.0};
  const double sideways = square(z * slope) * misplaced;
  return {p.loss, value,
          std::max(-1.0, value - std::sqrt(square(p.auc - p.auc_interval.lower) +
                                           square(upper - auc) + sideways)),
          std::min(1.0, value + std::sqrt(square(p.auc_interval.upper - p.auc) +
                                          square(auc - lower) + sideways))};
}

}  // namespace

std::vector<AucDifference> auc_at_equal_loss(const std::vector<LossAndAuc>& points,
                                             std::vector<LossAndAuc> reference, double z) {
  std::erase_if(reference, [](const LossAndAuc& p) { return std::isnan(p.loss); });
  std::sort(reference.begin(), reference.end(),
            [](const LossAndAuc& a, const LossAndAuc& b) { return a.loss < b.loss; });
  std::vector<AucDifference> differences;
  for (const LossAndAuc& p : points) {
    const auto right =
        std::find_if(reference.begin(), reference.end(),
                     [&](const LossAndAuc& candidate) { return candidate.loss >= p.loss; });
    if (right == reference.end()) continue;  // beyond the line, or NaN
    if (right == reference.begin()) {
      if (right->loss == p.loss) differences.push_back(difference(p, *right, *right, z));
      continue;
    }
    differences.push_back(difference(p, *(right - 1), *right, z));
  }
  return differences;
}

}  // namespace sfumato::apps
