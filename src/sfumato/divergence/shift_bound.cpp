#include "sfumato/divergence/shift_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/math/special.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// e^{-300} of a distance is nothing beside any other, and its square is still a number.
constexpr double kForgotten = 300.0;

/// Cells of clock time and length, of which the first few may be left without control.
struct Cells {
  std::vector<double> tau;
  std::vector<double> length;
  double carried = 0.0;  ///< length before the first cell
  double spent = 0.0;    ///< what cells that pay for themselves add to the bound

  /// A distance at the start that has become too small for a number still costs something.
  [[nodiscard]] double bound(double initial_distance) const {
    const double hull = tau.empty() ? 0.0 : shift_hull(tau, length, carried).bound;
    return std::max(spent + hull,
                    initial_distance > 0.0 ? std::numeric_limits<double>::denorm_min() : 0.0);
  }
};

/// The clock of a contraction rate over [0, end]: factors e^{kappa (s - reference)}, the reference being the end where
/// drifts contract and the start where they do not, so that none overflows.
class Clock {
 public:
  Clock(double kappa, double end) : kappa_(kappa), end_(end) {}

  /// e^{kappa (s - reference)}.
  [[nodiscard]] double weight(double s) const {
    return std::exp(kappa_ >= 0.0 ? kappa_ * (s - end_) : kappa_ * s);
  }
  /// The integral of its square over [left, right].
  [[nodiscard]] double tau(double left, double right) const {
    const double w = weight(right);
    return w * w * phi1(2.0 * kappa_, right - left);
  }
  /// Contracted to nothing at the end; or so far apart from the start that the end pays for itself.
  [[nodiscard]] bool forgotten(double s) const {
    return kappa_ >= 0.0 ? kappa_ * (end_ - s) > kForgotten : -kappa_ * s > kForgotten;
  }
  /// Where drifts that push apart are forgotten from, if that lies inside a cell: before it the string is steered, what
  /// was carried to the start with it.
  [[nodiscard]] std::optional<double> parting(double left, double right) const {
    if (kappa_ >= 0.0 || !forgotten(right) || forgotten(left)) return std::nullopt;
    const double at = -kForgotten * (1.0 - 1e-12) / kappa_;
    return at > left && at < right ? std::optional<double>(at) : std::nullopt;
  }

  /// Adds a cell with the integral `length` of weight times delta and that of delta^2.
  void add(double left, double right, double length, double square, Cells& cells) const {
    if (kappa_ < 0.0 && forgotten(right)) {
      cells.spent += 0.5 * square;
    } else if (kappa_ >= 0.0 && forgotten(right)) {
      cells.carried += length;
    } else {
      cells.tau.push_back(tau(left, right));
      cells.length.push_back(length);
    }
  }

 private:
  double kappa_;
  double end_;
};

// Gauss-Legendre on [-1, 1], three nodes.
constexpr std::array<double, 3> kNodes = {-0.7745966692414834, 0.0, 0.7745966692414834};
constexpr std::array<double, 3> kWeights = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};

/// Lengths that start at `first`, double, and sum to `total`.
std::vector<double> doubling(double first, double total) {
  std::vector<double> lengths;
  for (double left = total, next = first; left > 0.0; next *= 2.0) {
    lengths.push_back(next < 0.5 * left ? next : left);
    left -= lengths.back();
    if (lengths.back() <= 0.0) break;
  }
  return lengths;
}

/// Panels of [0, time] that are short at both ends.
std::vector<double> panels_of(double start_scale, double end_scale, double time) {
  const double half = 0.5 * time;
  std::vector<double> ends = {0.0};
  for (const double length : doubling(std::min(0.5 * start_scale, half), half)) {
    ends.push_back(ends.back() + length);
  }
  ends.back() = half;
  std::vector<double> back = {time};
  for (const double length : doubling(std::min(0.5 * end_scale, half), half)) {
    back.push_back(back.back() - length);
  }
  back.pop_back();  // the middle
  ends.insert(ends.end(), back.rbegin(), back.rend());
  return ends;
}

/// What a cell adds to the path F, and the integral of delta^2, in v = sqrt(s) or s.
///
/// F may be replaced by any larger path. Where its slope delta / weight falls over the cell, F is concave and above its
/// chord, so that its own rise serves. Elsewhere the rise sqrt(tau int delta^2) does, which is larger (Cauchy-Schwarz)
/// and that of a straight path above F: the cell then costs what the path form costs, however long it is.
std::array<double, 2> integrals(const ShiftRate& rate, const Clock& clock, double left,
                                double right, bool by_root) {
  const double a = by_root ? std::sqrt(left) : left;
  const double b = by_root ? std::sqrt(right) : right;
  std::array<double, 2> sums = {0.0, 0.0};
  bool falls = true;
  double slope = kInf;
  for (std::size_t k = 0; k < kNodes.size(); ++k) {
    const double v = 0.5 * (a + b) + 0.5 * (b - a) * kNodes[k];
    const double s = by_root ? v * v : v;
    const double width = kWeights[k] * 0.5 * (b - a) * (by_root ? 2.0 * v : 1.0);
    const double delta = rate.at(s);
    sums[0] += width * clock.weight(s) * delta;
    sums[1] += width * delta * delta;
    const double next = delta / clock.weight(s);
    falls = falls && next <= slope * (1.0 + 1e-13);
    slope = next;
  }
  if (!falls && !clock.forgotten(right)) {
    sums[0] = std::max(sums[0], std::sqrt(clock.tau(left, right) * sums[1]));
  }
  return sums;
}

double bound_with(const ShiftRate& rate, const Clock& clock, const std::vector<double>& panels,
                  int cells_per_panel, double initial_distance) {
  Cells cells;
  cells.carried = initial_distance * clock.weight(0.0);
  for (std::size_t i = 0; i + 1 < panels.size(); ++i) {
    const bool first = i == 0;
    for (int k = 0; k < cells_per_panel; ++k) {
      // Cells of the first panel are even in sqrt(s), where s^{-1/2} is smooth.
      const auto at = [&](int j) {
        const double share = static_cast<double>(j) / cells_per_panel;
        return panels[i] + (panels[i + 1] - panels[i]) * (first ? share * share : share);
      };
      const double left = at(k);
      const double right = k + 1 == cells_per_panel ? panels[i + 1] : at(k + 1);
      if (!(right > left)) continue;
      const double middle = clock.parting(left, right).value_or(right);
      for (const auto& [from, to] : {std::pair{left, middle}, std::pair{middle, right}}) {
        if (!(to > from)) continue;
        const auto [length, square] = integrals(rate, clock, from, to, first);
        if (!std::isfinite(length) || !std::isfinite(square)) return kInf;
        clock.add(from, to, length, square, cells);
      }
    }
  }
  return cells.bound(initial_distance);
}

}  // namespace

ShiftHull shift_hull(const std::vector<double>& tau, const std::vector<double>& length,
                     double initial_distance) {
  const Where where = Where::here();
  require_size("length", static_cast<std::ptrdiff_t>(length.size()),
               static_cast<std::ptrdiff_t>(tau.size()), where);
  if (tau.empty()) throw InvalidArgument("there are no cells", "Give at least one", where);
  require_finite("initial_distance",
                 require_non_negative("initial_distance", initial_distance, where), where);
  // Blocks of cells that share a slope. Quotients are compared, not products, and sums are of a block, not of
  // everything before it: where drifts push apart the clock of late cells is lost in a sum over all.
  struct Block {
    double tau;
    double length;
    std::size_t cells;
    [[nodiscard]] double slope() const { return length / tau; }
  };
  std::vector<Block> blocks;
  double carried = initial_distance;
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < tau.size(); ++i) {
    require_finite("tau", require_non_negative("tau", tau[i], where), where);
    require_finite("length", require_non_negative("length", length[i], where), where);
    const double rise = length[i] + carried;
    if (tau[i] == 0.0) {
      // No clock time: its length is carried by the next cell, which leaves it without control.
      carried = rise;
      ++skipped;
      continue;
    }
    carried = 0.0;
    blocks.push_back({tau[i], rise, 1 + skipped});
    skipped = 0;
    while (blocks.size() > 1 && blocks.back().slope() <= blocks[blocks.size() - 2].slope()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back() = {blocks.back().tau + last.tau, blocks.back().length + last.length,
                       blocks.back().cells + last.cells};
    }
  }
  if (carried > 0.0) {
    throw InvalidArgument("the last cell rises without clock time", "Give it a positive tau",
                          where);
  }
  ShiftHull hull{0.0, {}};
  for (const Block& block : blocks) {
    hull.bound += 0.5 * block.length * block.slope();
    hull.slopes.insert(hull.slopes.end(), block.cells, block.slope());
  }
  hull.slopes.resize(tau.size(), hull.slopes.empty() ? 0.0 : hull.slopes.back());
  return hull;
}

double shift_bound(const std::vector<double>& times, const std::vector<double>& delta, double kappa,
                   double initial_distance) {
  const Where where = Where::here();
  require_size("delta", static_cast<std::ptrdiff_t>(delta.size()),
               static_cast<std::ptrdiff_t>(times.size()) - 1, where);
  require_finite("kappa", kappa, where);
  require_finite("initial_distance",
                 require_non_negative("initial_distance", initial_distance, where), where);
  if (delta.empty()) throw InvalidArgument("there are no cells", "Give at least two times", where);
  const double begin = times.front();
  const Clock clock(kappa, times.back() - begin);
  Cells cells;
  cells.carried = initial_distance * clock.weight(0.0);
  for (std::size_t i = 0; i < delta.size(); ++i) {
    require_finite("delta", require_non_negative("delta", delta[i], where), where);
    const double left = times[i] - begin;
    const double right = times[i + 1] - begin;
    if (!(right > left) || !std::isfinite(right)) {
      throw InvalidArgument(
          fmt::format("times[{}] = {} does not follow {}", i + 1, times[i + 1], times[i]),
          "Give finite times in ascending order", where);
    }
    const double middle = clock.parting(left, right).value_or(right);
    for (const auto& [from, to] : {std::pair{left, middle}, std::pair{middle, right}}) {
      if (!(to > from)) continue;
      // kappa < 0: delta replaced by a larger function whose path is straight on the cell.
      const double length = kappa >= 0.0 ? delta[i] * clock.weight(to) * phi1(kappa, to - from)
                                         : delta[i] * clock.tau(from, to) / clock.weight(to);
      clock.add(from, to, length, delta[i] * delta[i] * (to - from), cells);
    }
  }
  return cells.bound(initial_distance);
}

double shift_bound(const ShiftRate& rate, double kappa, double time, double initial_distance) {
  require_finite("kappa", kappa);
  require_non_negative("time", time);
  if (time == 0.0) return initial_distance > 0.0 ? kInf : 0.0;
  if (time == kInf) {
    return kappa > 0.0 && std::isfinite(rate.limit) ? rate.limit * (rate.limit / kappa) : kInf;
  }
  const Clock clock(kappa, time);
  // Near the end the weight changes, and so does a rate that grows as fast as it may change near the start.
  const double at_end = std::min(1.0 / std::abs(kappa), rate.start_scale);
  const double at_start = kappa < 0.0 ? std::min(-1.0 / kappa, rate.start_scale) : rate.start_scale;
  const std::vector<double> panels =
      panels_of(std::max(at_start, 1e-14 * time), std::max(at_end, 1e-14 * time), time);
  // Chords of concave paths are right for any cells, and straight paths above convex ones too: halving shows that the
  // quadrature sees delta, and brings the two together.
  constexpr double kEnough = 1e-5;
  double before = bound_with(rate, clock, panels, 4, initial_distance);
  double after = before;
  for (int cells = 8; cells <= 64; cells *= 2) {
    after = bound_with(rate, clock, panels, cells, initial_distance);
    if (after == kInf || std::abs(after - before) <= kEnough * after) break;
    if (cells < 64) before = after;
  }
  if (after == kInf || before == kInf) return kInf;
  return after + std::abs(after - before) + 1e-12 * after;
}

PointStartNoise point_start_noise(const Covariance& noise, const Covariance& noise_prime) {
  const VectorXd origin = VectorXd::Zero(dimension(noise));
  const MatrixXd first = dense(noise);
  const MatrixXd gap = dense(noise_prime) - first;
  const double bound =
      0.5 * solve(noise_prime, gap).cwiseProduct(solve(noise, gap).transpose()).sum();
  return {gaussian_kl(whiten(origin, noise, origin, noise_prime)).value.value(), bound};
}

}  // namespace sfumato
