#include "sfumato/audit/roc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <functional>
#include <numbers>

#include "sfumato/core/check.hpp"

namespace sfumato {

Roc::Roc(const ScoreSample& sample) {
  require_scores(sample);
  std::vector<double> with = sample.with, without = sample.without;
  std::sort(with.begin(), with.end(), std::greater<>());
  std::sort(without.begin(), without.end(), std::greater<>());
  members_ = with.size();
  non_members_ = without.size();
  points_.push_back({HUGE_VAL, 0, 0});
  std::size_t i = 0, j = 0;
  while (i < with.size() || j < without.size()) {
    const bool first = j == without.size() || (i < with.size() && with[i] >= without[j]);
    const double value = first ? with[i] : without[j];
    while (i < with.size() && with[i] == value) ++i;
    while (j < without.size() && without[j] == value) ++j;
    points_.push_back({value, i, j});
  }
}

double Roc::tpr(const RocPoint& point) const {
  return static_cast<double>(point.true_positives) / static_cast<double>(members_);
}

double Roc::fpr(const RocPoint& point) const {
  return static_cast<double>(point.false_positives) / static_cast<double>(non_members_);
}

double Roc::auc() const {
  double twice = 0.0;  // integers below 2^53 unless there are 10^7 scores of each kind
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const RocPoint &last = points_[i - 1], &now = points_[i];
    twice += static_cast<double>(now.false_positives - last.false_positives) *
             static_cast<double>(now.true_positives + last.true_positives);
  }
  return 0.5 * twice / (static_cast<double>(members_) * static_cast<double>(non_members_));
}

const RocPoint& Roc::best_point() const {
  return *std::max_element(
      points_.begin(), points_.end(),
      [this](const RocPoint& a, const RocPoint& b) { return tpr(a) - fpr(a) < tpr(b) - fpr(b); });
}

double Roc::advantage() const { return tpr(best_point()) - fpr(best_point()); }

const RocPoint& Roc::point_at(double fpr) const {
  require_probability("fpr", fpr);
  // In counts, so that 10 of 100 are 10 %.
  const auto allowed = static_cast<std::uint64_t>(
      std::floor(fpr * static_cast<double>(non_members_) * (1.0 + 1e-12)));
  const auto beyond = std::upper_bound(
      points_.begin(), points_.end(), allowed,
      [](std::uint64_t limit, const RocPoint& point) { return limit < point.false_positives; });
  return *(beyond - 1);  // the first point has none
}

std::vector<RocPoint> Roc::thinned(std::size_t count) const {
  if (points_.size() <= count || count < 2) return points_;
  std::vector<RocPoint> kept{points_.front()};
  const double log_size = std::log(static_cast<double>(non_members_));
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 2);
    const RocPoint& point = point_at(std::exp((share - 1.0) * log_size));
    const RocPoint& last = kept.back();
    if (point.true_positives != last.true_positives ||
        point.false_positives != last.false_positives) {
      kept.push_back(point);
    }
  }
  if (kept.back().false_positives != non_members_ || kept.back().true_positives != members_) {
    kept.push_back(points_.back());
  }
  return kept;
}

ProbabilityInterval auc_interval(double auc, std::uint64_t members, std::uint64_t non_members,
                                 double confidence) {
  require_probability("auc", auc);
  if (members == 0 || non_members == 0) {
    throw InvalidArgument("a group has no scores", "Pass scores of members and of non-members");
  }
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  const double z = std::numbers::sqrt2 * boost::math::erfc_inv(1.0 - confidence);
  const auto m = static_cast<double>(members), n = static_cast<double>(non_members);
  const double others = 0.5 * (m + n) - 1.0;
  const auto variance = [&](double t) {
    return t * (1.0 - t) * (1.0 + others * ((1.0 - t) / (2.0 - t) + t / (1.0 + t))) / (m * n);
  };
  // (auc - t)^2 = z^2 variance(t) has one root on each side of auc.
  const auto root = [&](double inside, double outside) {
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (inside + outside);
      const double gap = auc - middle;
      (gap * gap <= z * z * variance(middle) ? inside : outside) = middle;
    }
    return outside;
  };
  return {auc > 0.0 ? root(auc, 0.0) : 0.0, auc < 1.0 ? root(auc, 1.0) : 1.0};
}

}  // namespace sfumato
