#include "sfumato/sde/fokker_planck/domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/sde/fokker_planck/solver.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

constexpr double kNegligible = 1e-15;
constexpr double kStartWidths = 8.5;  // exp(-8.5^2 / 2) = 2e-16
constexpr double kWidest = 200.0;
constexpr Index kTrialSteps = 12;

/// Largest density seen in each slab across each axis.
using Profile = std::vector<ArrayXd>;

void raise_profile(const Grid& grid, const ArrayXd& density, Profile& profile) {
  const double floor = kNegligible * density.maxCoeff();
  const Index columns = grid.axis(grid.dimension() - 1).cells;
  for (Index c = 0; c < density.size(); ++c) {
    if (!(density(c) > floor)) continue;
    profile.back()(c % columns) = 1.0;
    if (grid.dimension() == 2) profile.front()(c / columns) = 1.0;
  }
}

/// Which slabs any distribution used at any time. A start narrower than a cell is widened to one.
Profile trial(const Grid& grid, const std::vector<StartedDiffusion>& distributions,
              const std::vector<TimePanel>& plan, double begin) {
  Profile used;
  VectorXd widths(grid.dimension());
  for (Index k = 0; k < grid.dimension(); ++k) {
    used.push_back(ArrayXd::Zero(grid.axis(k).cells));
    widths(k) = grid.axis(k).width();
  }
  for (const StartedDiffusion& distribution : distributions) {
    const Eigen::MatrixXd widened =
        dense(distribution.start.covariance) +
        Eigen::MatrixXd((1.01 * widths.array().square()).matrix().asDiagonal());
    FokkerPlanckSolver solver(distribution.diffusion, grid,
                              gaussian_density(grid, {distribution.start.mean, Dense{widened}}),
                              begin);
    raise_profile(grid, solver.density(), used);
    for (const TimePanel& panel : plan) {
      for (Index k = 0; k < panel.steps; ++k) {
        solver.step(panel.step(), panel.after(k + 1));
        raise_profile(grid, solver.density(), used);
      }
    }
  }
  return used;
}

}  // namespace

std::vector<Interval> find_domain(const std::vector<StartedDiffusion>& distributions, double begin,
                                  const std::vector<double>& times) {
  const Index d = distributions.front().diffusion.dimension;
  const Index cells = d == 1 ? 240 : 64;
  std::vector<Interval> box(
      static_cast<std::size_t>(d),
      {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  double first = std::numeric_limits<double>::infinity();
  for (const StartedDiffusion& distribution : distributions) {
    const VectorXd sd = diagonal_of(distribution.start.covariance).cwiseSqrt();
    for (Index k = 0; k < d; ++k) {
      Interval& side = box[static_cast<std::size_t>(k)];
      side.lower = std::min(side.lower, distribution.start.mean(k) - kStartWidths * sd(k));
      side.upper = std::max(side.upper, distribution.start.mean(k) + kStartWidths * sd(k));
    }
    first = std::min(first, first_panel(distribution.diffusion, distribution.start, begin));
  }
  const std::vector<Interval> starts = box;
  const std::vector<TimePanel> plan =
      time_plan(begin, times, {first, std::numeric_limits<double>::infinity(), kTrialSteps});
  for (;;) {
    // The widened start of a trial reaches a few cells further than the start itself.
    std::vector<Interval> padded = box;
    for (Interval& side : padded) {
      const double pad = 10.0 * (side.upper - side.lower) / static_cast<double>(cells);
      side = {side.lower - pad, side.upper + pad};
    }
    const Grid grid(padded, cells);
    const Profile used = trial(grid, distributions, plan, begin);
    bool held = true;
    for (Index k = 0; k < d; ++k) {
      const ArrayXd& slabs = used[static_cast<std::size_t>(k)];
      Interval& side = box[static_cast<std::size_t>(k)];
      const double length = side.upper - side.lower;
      const Interval& start = starts[static_cast<std::size_t>(k)];
      if (length > kWidest * (start.upper - start.lower)) {
        throw NumericalFailure(
            fmt::format("a distribution reaches the ends of [{:.4g}, {:.4g}] on axis {}",
                        side.lower, side.upper, k),
            "The drift does not confine it: ask for shorter times, or give the domain",
            Where::here("Fokker-Planck"));
      }
      if (slabs(0) > 0.0) side.lower -= 0.3 * length;
      if (slabs(cells - 1) > 0.0) side.upper += 0.3 * length;
      held = held && slabs(0) == 0.0 && slabs(cells - 1) == 0.0;
    }
    if (!held) continue;
    for (Index k = 0; k < d; ++k) {
      const ArrayXd& slabs = used[static_cast<std::size_t>(k)];
      Index low = 0;
      Index high = cells - 1;
      while (slabs(low) == 0.0) ++low;
      while (slabs(high) == 0.0) --high;
      const GridAxis& axis = grid.axis(k);
      box[static_cast<std::size_t>(k)] = {axis.face(low - 1), axis.face(high)};
    }
    return box;
  }
}

}  // namespace sfumato
