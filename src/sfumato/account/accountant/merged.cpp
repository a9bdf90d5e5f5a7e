#include "sfumato/account/accountant/merged.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <utility>

#include "sfumato/account/contour/rounding_unit.hpp"

namespace sfumato {
namespace {

Signals signals_of(const StepLoss& step) {
  return std::visit([](const auto& s) { return s.signals(); }, step);
}

StepLoss with(StepLoss step, Signals signals, double k) {
  std::visit([&](auto& s) { s.set_signals(signals), s.k = k; }, step);
  return step;
}

/// Steps that differ in their signals alone have the same kind.
using Kind = std::pair<std::size_t, StepKind>;
Kind kind_of(const StepLoss& step) {
  return {step.index(), std::visit([](const auto& s) { return s.kind(); }, step)};
}

/// How much a step adds to the variance of the loss, about.
double weight_of(const StepLoss& step) {
  const auto [first, second] = signals_of(step);
  const double size = first * std::min(second, 1.0);
  return count_of(step) * size * size;
}

/// Near-equal steps, and how far apart the logarithms of their signals are.
struct Cell {
  std::vector<StepLoss> steps;
  Signals low, high;
  double weight = 0.0;

  explicit Cell(std::vector<StepLoss> of)
      : steps(std::move(of)), low(signals_of(steps.front())), high(low) {
    for (const StepLoss& step : steps) {
      const auto [first, second] = signals_of(step);
      low = {std::min(low.first, first), std::min(low.second, second)};
      high = {std::max(high.first, first), std::max(high.second, second)};
      weight += weight_of(step);
    }
  }
  [[nodiscard]] double first_extent() const { return std::log(high.first) - std::log(low.first); }
  [[nodiscard]] double second_extent() const {
    return std::log(high.second) - std::log(low.second);
  }
  /// By how much merging it may change the variance of the loss.
  [[nodiscard]] double slack() const { return weight * (first_extent() + second_extent()); }
  [[nodiscard]] bool is_point() const {
    return low.first == high.first && low.second == high.second;
  }
};

/// The cell cut in the middle of its longer side; both parts have steps, unless rounding leaves one without.
std::pair<std::vector<StepLoss>, std::vector<StepLoss>> halves(const Cell& cell) {
  const bool is_first = cell.first_extent() >= cell.second_extent();
  const double low = is_first ? cell.low.first : cell.low.second;
  const double high = is_first ? cell.high.first : cell.high.second;
  const double middle = std::sqrt(low) * std::sqrt(high);
  std::pair<std::vector<StepLoss>, std::vector<StepLoss>> parts;
  for (const StepLoss& step : cell.steps) {
    const auto [first, second] = signals_of(step);
    ((is_first ? first : second) <= middle ? parts.first : parts.second).push_back(step);
  }
  return parts;
}

/// All steps of a cell as one. Counts beyond 2^53 are rounded in sums: a little more or less of them.
StepLoss whole(const Cell& cell, Merge side) {
  double count = 0.0;
  for (const StepLoss& step : cell.steps) count += count_of(step);
  if (count > 0x1p53) {
    const double off = 2.0 * kUnit * static_cast<double>(cell.steps.size()) * count;
    count = side == Merge::up ? std::ceil(count + off) : std::floor(count - off);
  }
  return with(cell.steps.front(), side == Merge::up ? cell.high : cell.low, count);
}

}  // namespace

std::vector<StepLoss> merged(const std::vector<StepLoss>& steps, Merge side) {
  if (steps.size() <= kMergedKinds) return steps;
  std::map<Kind, std::vector<StepLoss>> kinds;
  for (const StepLoss& step : steps) kinds[kind_of(step)].push_back(step);
  const auto less = [](const Cell& a, const Cell& b) { return a.slack() < b.slack(); };
  std::priority_queue<Cell, std::vector<Cell>, decltype(less)> open(less);
  std::vector<StepLoss> done;
  for (auto& [kind, of] : kinds) open.push(Cell(std::move(of)));
  while (!open.empty()) {
    const Cell widest = open.top();
    open.pop();
    const bool is_full = open.size() + done.size() + 1 >= kMergedKinds;
    auto [low, high] = is_full || widest.is_point() ? decltype(halves(widest)){} : halves(widest);
    if (low.empty() || high.empty()) {
      done.push_back(whole(widest, side));
    } else {
      open.push(Cell(std::move(low)));
      open.push(Cell(std::move(high)));
    }
  }
  return done;
}

}  // namespace sfumato
