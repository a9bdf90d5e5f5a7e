#include "sfumato/account/accountant/profile_curve.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr double kFarthest =
    600.0;  // e^eps is a number, and so are its products with probabilities
constexpr double kUp = 1.0 + 1e-14;  // a handful of roundings

/// The least threshold at which delta is known to be that small; of ever larger ones where it never is.
double end_of(std::vector<LossProfile>& profiles, double least) {
  for (double enough = least; enough < 1.0; enough *= 16.0) {
    double end = 0.0;
    for (LossProfile& profile : profiles) end = std::max(end, profile.epsilon(enough).hi);
    if (end <= kFarthest) return end;
  }
  throw NumericalFailure("delta does not fall within 600 nats", "Add noise");
}

}  // namespace

ProfileCurve::ProfileCurve(const std::vector<TotalLoss>& losses, const Range& range) {
  std::vector<LossProfile> profiles;
  for (const TotalLoss& loss : losses) profiles.emplace_back(loss);
  const double end = end_of(profiles, range.least);
  const double step = std::max(range.step, end / static_cast<double>(range.most));
  const auto count = static_cast<std::size_t>(std::ceil(end / step)) + 1;
  directions_.resize(profiles.size());
  for (std::size_t i = 0; i <= count; ++i) {
    const double eps = step * static_cast<double>(i), a = std::exp(eps);
    Node worst{eps, a, 0.0, 0.0};
    for (std::size_t d = 0; d < profiles.size(); ++d) {
      const DeltaEnclosure found = profiles[d].delta(eps);
      Node node{eps, a, found.lo(), found.hi()};
      // delta falls: a node never needs more than the one before it.
      if (i > 0) node.hi = std::min(node.hi, directions_[d].back().hi);
      directions_[d].push_back(node);
      worst.lo = std::max(worst.lo, node.lo);
      worst.hi = std::max(worst.hi, node.hi);
    }
    nodes_.push_back(worst);
  }
}

double ProfileCurve::delta_hi(double eps) const {
  if (eps < 0.0) {
    const double a = std::exp(eps);
    return std::min(1.0, (-std::expm1(eps) + a * delta_hi(-eps)) * kUp);
  }
  if (eps >= nodes_.back().eps) return nodes_.back().hi;
  const auto next = std::upper_bound(nodes_.begin(), nodes_.end(), eps,
                                     [](double x, const Node& node) { return x < node.eps; });
  const Node &left = *(next - 1), &right = *next;
  // The share of the way, by differences of eps, whose digits do not cancel.
  const double share = std::expm1(eps - left.eps) / std::expm1(right.eps - left.eps);
  return std::min(left.hi, (left.hi + (right.hi - left.hi) * share) * kUp);
}

double ProfileCurve::rate_hi(double x) const {
  // Both sums have one valley along the nodes, and every node is a bound: halving finds the valley of the rounded values or a neighbour.
  const auto above = [&](std::size_t i) { return nodes_[i].hi + nodes_[i].a * x; };
  const auto below = [&](std::size_t i) {
    const Node& node = nodes_[i];
    return -std::expm1(-node.eps) + (node.hi + x) / node.a;
  };
  double best = 1.0;
  const auto least = [&](const auto& value) {
    std::size_t low = 0, high = nodes_.size() - 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (value(middle) <= value(middle + 1)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    best = std::min(best, value(low) * kUp);
  };
  least(above);
  least(below);
  return std::max(x, best);
}

}  // namespace sfumato
