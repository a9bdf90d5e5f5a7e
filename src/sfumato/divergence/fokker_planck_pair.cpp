#include "sfumato/divergence/fokker_planck_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/grid_entropy.hpp"
#include "sfumato/math/symmetric_eigen.hpp"
#include "sfumato/sde/fokker_planck/coordinates.hpp"
#include "sfumato/sde/fokker_planck/solver.hpp"
#include "sfumato/sde/fokker_planck/time_plan.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

// Densities kept before their functionals are taken; bounds memory and gives threads enough to do.
constexpr Index kBatchBytes = Index{1} << 23;
// Rounding moves the mass by about 1e-17 a step; what exceeds this is a mistake, not rounding.
constexpr double kMassTolerance = 1e-9;

/// What is chosen without being asked for takes seconds at most.
Index most_cells(Index dimension) { return dimension == 1 ? 6000 : 400; }

/// Everything the two distributions need, in grid coordinates and checked.
struct Setup {
  StartedDiffusion p;
  StartedDiffusion q;
  std::vector<Interval> domain;
  std::vector<double> times;
  FokkerPlanckOptions options;
  std::vector<TimePanel> plan;  ///< of the coarsest level
};

/// One run: the numbers of a PairAtTime in the order of `flatten`, for each time reached.
struct LevelRun {
  std::vector<ArrayXd> numbers;
  std::vector<ArrayXd> p;
  std::vector<ArrayXd> q;
  double boundary_mass = 0.0;
  double mass_error = 0.0;
  double peclet_number = 0.0;
};

/// The state of a distribution after one step.
struct Snapshot {
  ArrayXd density;
  std::shared_ptr<const Coefficients> coefficients;
};

template <class F, class G>
void run_both(int threads, F&& first, G&& second) {
  if (threads < 2) {
    first();
    second();
    return;
  }
  std::future<void> other = std::async(std::launch::async, std::forward<G>(second));
  first();
  other.get();
}

/// Time integrals by the trapezoidal rule, whose error has even powers of the step.
class Accumulator {
 public:
  void add(double dt, const GridEntropy& before, const GridEntropy& after) {
    add(dt, before.forward, after.forward, 0);
    add(dt, before.reverse, after.reverse, 3);
  }
  [[nodiscard]] double operator[](std::size_t k) const { return sums_[k]; }

 private:
  void add(double dt, const DirectedEntropy& a, const DirectedEntropy& b, std::size_t at) {
    sums_[at] += 0.5 * dt * (a.primal + b.primal);
    sums_[at + 1] += 0.5 * dt * (a.dual + b.dual);
    sums_[at + 2] += 0.5 * dt * (std::min(a.primal, a.dual) + std::min(b.primal, b.dual));
  }
  double sums_[6] = {};
};

class Level {
 public:
  Level(const Setup& setup, int refinement, Observer* observer, Index done, Index total)
      : setup_(setup),
        grid_(setup.domain,
              setup.options.cells_per_axis >> (setup.options.levels - 1 - refinement)),
        factor_(Index{1} << refinement),
        observer_(observer),
        done_(done),
        total_(total),
        p_(setup.p.diffusion, grid_, gaussian_density(grid_, setup.p.start), setup.options.begin),
        q_(setup.q.diffusion, grid_, gaussian_density(grid_, setup.q.start), setup.options.begin),
        current_(entropy({p_.density(), p_.coefficients()}, {q_.density(), q_.coefficients()})),
        start_(current_) {}

  /// Up to the last time or until the observer stops it.
  LevelRun run() {
    std::size_t next = 0;
    check_state();
    for (; next < setup_.times.size() && setup_.times[next] <= setup_.options.begin; ++next)
      report();
    for (const TimePanel& coarse : setup_.plan) {
      const TimePanel panel{coarse.begin, coarse.end, coarse.steps * factor_};
      if (!cross(panel)) break;
      for (; next < setup_.times.size() && setup_.times[next] <= panel.end; ++next) report();
    }
    return std::move(result_);
  }

  [[nodiscard]] const Grid& grid() const { return grid_; }

 private:
  [[nodiscard]] GridEntropy entropy(const Snapshot& p, const Snapshot& q) const {
    return grid_entropy(grid_, p.density, *p.coefficients, q.density, *q.coefficients);
  }

  /// Batches of steps: both distributions move, then the functionals of all snapshots are taken. Work is split
  /// over threads by distribution, then by half of the batch; sums are taken in the order of time.
  bool cross(const TimePanel& panel) {
    const Index batch = std::max<Index>(1, kBatchBytes / (16 * grid_.size()));
    const double dt = panel.step();
    for (Index from = 0; from < panel.steps; from += batch) {
      if (observer_ != nullptr && observer_->stop_requested()) return false;
      const Index count = std::min(batch, panel.steps - from);
      const auto advance = [&](FokkerPlanckSolver& solver, std::vector<Snapshot>& out) {
        out.resize(static_cast<std::size_t>(count));
        for (Index k = 0; k < count; ++k) {
          solver.step(dt, panel.after(from + k + 1));
          Snapshot& to = out[static_cast<std::size_t>(k)];
          to.density = solver.density();
          to.coefficients = solver.coefficients();
        }
      };
      run_both(
          setup_.options.threads, [&] { advance(p_, p_batch_); }, [&] { advance(q_, q_batch_); });
      std::vector<GridEntropy> found(static_cast<std::size_t>(count));
      const auto evaluate = [&](Index begin, Index end) {
        for (Index k = begin; k < end; ++k) {
          const auto at = static_cast<std::size_t>(k);
          found[at] = entropy(p_batch_[at], q_batch_[at]);
        }
      };
      run_both(
          setup_.options.threads, [&] { evaluate(0, count / 2); },
          [&] { evaluate(count / 2, count); });
      for (const GridEntropy& after : found) {
        integrals_.add(dt, current_, after);
        current_ = after;
      }
      check_state();
      done_ += count;
      if (observer_ != nullptr) {
        observer_->progress("Fokker-Planck steps", static_cast<std::uint64_t>(done_),
                            static_cast<std::uint64_t>(total_));
      }
    }
    return true;
  }

  void check_state() {
    for (const FokkerPlanckSolver* distribution : {&p_, &q_}) {
      const ArrayXd& density = distribution->density();
      result_.peclet_number = std::max(
          result_.peclet_number, cell_peclet_number(grid_, *distribution->coefficients(), density));
      const double error = std::abs(mass(grid_, density) - 1.0);
      result_.mass_error = std::max(result_.mass_error, error);
      if (!std::isfinite(error)) {
        throw NumericalFailure("the densities are beyond the range of doubles",
                               "Rescale the problem, or give a larger Sigma or start_covariance",
                               Where::here("Fokker-Planck"));
      }
      if (error > kMassTolerance) {
        throw InternalError(fmt::format("Fokker-Planck lost mass: |mass - 1| = {:.3g}", error));
      }
      const double at_ends = boundary_mass(grid_, density);
      result_.boundary_mass = std::max(result_.boundary_mass, at_ends);
      if (!(at_ends <= setup_.options.boundary_tolerance)) {
        throw NumericalFailure(fmt::format("mass {:.3g} of a distribution is at the ends of the "
                                           "domain at time {:.6g}, more than "
                                           "{:.3g}",
                                           at_ends, p_.time(), setup_.options.boundary_tolerance),
                               "Enlarge the domain, or leave it out to have it chosen",
                               Where::here("Fokker-Planck"));
      }
    }
  }

  void report() {
    const ArrayXd& p = p_.density();
    const ArrayXd& q = q_.density();
    const std::vector<double>& epsilons = setup_.options.epsilons;
    const auto count = static_cast<Index>(epsilons.size());
    ArrayXd numbers(15 + 2 * count);
    const DirectedEntropy& f = current_.forward;
    const DirectedEntropy& r = current_.reverse;
    const double f0 = start_.forward.kl;
    const double r0 = start_.reverse.kl;
    numbers.head(15) << grid_hockey_stick(grid_, p, q, 0.0), f.kl, f.rate, f.primal, f.dual,
        f0 + integrals_[0], f0 + integrals_[1], f0 + integrals_[2], r.kl, r.rate, r.primal, r.dual,
        r0 + integrals_[3], r0 + integrals_[4], r0 + integrals_[5];
    for (Index k = 0; k < count; ++k) {
      const double epsilon = epsilons[static_cast<std::size_t>(k)];
      numbers(15 + k) = grid_hockey_stick(grid_, p, q, epsilon);
      numbers(15 + count + k) = grid_hockey_stick(grid_, q, p, epsilon);
    }
    result_.numbers.push_back(std::move(numbers));
    if (setup_.options.keep_densities) {
      result_.p.push_back(p);
      result_.q.push_back(q);
    }
  }

  const Setup& setup_;
  Grid grid_;
  Index factor_;
  Observer* observer_;
  Index done_;
  Index total_;
  FokkerPlanckSolver p_;
  FokkerPlanckSolver q_;
  GridEntropy current_;
  GridEntropy start_;
  Accumulator integrals_;
  std::vector<Snapshot> p_batch_;
  std::vector<Snapshot> q_batch_;
  LevelRun result_;
};

// Above this Peclet number of the coarsest grid its second order has not begun. Of 300 entropies of
// random Ornstein-Uhlenbeck pairs on 240 cells, the last correction was smaller than the error in 24,
// 22 of them above it.
constexpr double kResolvedPeclet = 1.0;

/// Richardson extrapolation over runs with h, h/2 (, h/4), coarsest first, errors in powers 1, 2, 3
/// of h. All numbers but the rate of change are >= 0; rounding is cut off there by the caller.
/// The error is the last correction, or the whole one where the grids are not `resolved`.
GridEstimate extrapolate(const std::vector<double>& values, bool resolved) {
  std::vector<double> column = values;
  double before = column.back();
  double weight = 2.0;
  while (column.size() > 1) {
    before = column.back();
    for (std::size_t k = 0; k + 1 < column.size(); ++k) {
      column[k] = column[k + 1] + (column[k + 1] - column[k]) / (weight - 1.0);
    }
    column.pop_back();
    weight *= 2.0;
  }
  return {column.front(), std::abs(column.front() - (resolved ? before : values.back()))};
}

PairAtTime row_from(double time, const std::vector<LevelRun>& runs, std::size_t which,
                    Index epsilons) {
  const bool resolved = runs.front().peclet_number <= kResolvedPeclet;
  const auto number = [&](Index k) {
    std::vector<double> values;
    values.reserve(runs.size());
    for (const LevelRun& run : runs) values.push_back(run.numbers[which](k));
    return extrapolate(values, resolved);
  };
  const auto not_negative = [&](Index k) {
    GridEstimate estimate = number(k);
    estimate.value = std::max(0.0, estimate.value);
    return estimate;
  };
  const auto direction = [&](Index at, Index deltas) {
    PairDirection out{
        not_negative(at),     number(at + 1),       not_negative(at + 2), not_negative(at + 3),
        not_negative(at + 4), not_negative(at + 5), not_negative(at + 6), {}};
    for (Index k = 0; k < epsilons; ++k) out.deltas.push_back(not_negative(deltas + k));
    return out;
  };
  return {time, direction(1, 15), direction(8, 15 + epsilons), not_negative(0), {}, {}};
}

bool depends_on_time(const Setup& setup, double end) {
  const Grid coarse(setup.domain, 16);
  for (const StartedDiffusion* distribution : {&setup.p, &setup.q}) {
    FaceSampler sampler(distribution->diffusion, coarse);
    const std::shared_ptr<const Coefficients> first = sampler.at(setup.options.begin);
    for (int k = 1; k <= 16; ++k) {
      const double time = setup.options.begin + (end - setup.options.begin) * k / 16.0;
      if (sampler.at(time) != first) return true;
    }
  }
  return false;
}

void require_options(const FokkerPlanckOptions& options, Index dimension) {
  if (options.levels < 2 || options.levels > 3) {
    throw InvalidArgument(fmt::format("levels = {}", options.levels), "Use 2 or 3");
  }
  const Index factor = Index{1} << (options.levels - 1);
  for (const Index count : {options.cells_per_axis, options.steps_per_panel}) {
    if (count < 0 || count % factor != 0) {
      throw InvalidArgument(
          fmt::format("cells_per_axis = {} and steps_per_panel = {} cannot be halved {} times",
                      options.cells_per_axis, options.steps_per_panel, options.levels - 1),
          fmt::format("Use multiples of {}", factor));
    }
  }
  if (options.threads < 1 || options.threads > 2) {
    throw InvalidArgument(fmt::format("threads = {}", options.threads), "Use 1 or 2");
  }
  require_finite("begin", options.begin);
  require_positive("boundary_tolerance", options.boundary_tolerance);
  for (const double epsilon : options.epsilons) require_finite("epsilon", epsilon);
  if (!options.domain.empty()) {
    require_size("domain", static_cast<Index>(options.domain.size()), dimension);
  }
  if (options.longest_panel) require_positive("longest_panel", *options.longest_panel);
}

Setup prepare(const StartedDiffusion& p, const StartedDiffusion& q,
              const std::vector<double>& times, const LinearMap& map,
              const FokkerPlanckOptions& options) {
  Setup setup{{mapped(p.diffusion, map), mapped(p.start, map)},
              {mapped(q.diffusion, map), mapped(q.start, map)},
              mapped(options.domain, map),
              times,
              options,
              {}};
  if (setup.domain.empty()) setup.domain = find_domain({setup.p, setup.q}, options.begin, times);
  return setup;
}

Index multiple_of_four(double least) { return 4 * static_cast<Index>(std::ceil(least / 4.0)); }

/// Enough cells for both starts to have a standard deviation of two cells on the coarsest grid.
Index cells_for_starts(const Setup& setup) {
  double ratio = 0.0;
  for (const StartedDiffusion* distribution : {&setup.p, &setup.q}) {
    const SymmetricEigen eigen(dense(distribution->start.covariance));
    const double narrowest = std::sqrt(std::max(0.0, eigen.eigenvalues()(0)));
    for (const Interval& side : setup.domain) {
      ratio = std::max(ratio, (side.upper - side.lower) / narrowest);
    }
  }
  const double coarsening = std::ldexp(1.0, setup.options.levels - 1);
  const Index most = most_cells(setup.p.diffusion.dimension);
  return multiple_of_four(std::min(2.0 * coarsening * ratio, static_cast<double>(most)));
}

/// A grid that would take days: the distributions change within a vanishing part of the time.
constexpr double kMostSteps = 1e6;

/// Cells times steps of a grid that nobody asked for: a hundred times what the examples take.
constexpr double kMostWork = 1e9;

[[noreturn]] void refuse_steps() {
  throw NumericalFailure(
      "the distributions change too fast or spread too far for a grid: it would take too long",
      "Give estimate.cells, a narrower start_covariance or shorter times");
}

/// The plan of the coarsest level, and steps that shrink with the cells unless given.
void plan_steps(Setup& setup, const FokkerPlanckOptions& options) {
  FokkerPlanckOptions& chosen = setup.options;
  const std::vector<double>& times = setup.times;
  const Index dimension = setup.p.diffusion.dimension;
  if (options.steps_per_panel == 0) {
    chosen.steps_per_panel =
        std::max<Index>(64, multiple_of_four(static_cast<double>(chosen.cells_per_axis) / 4.0));
  }
  const double first = std::min(first_panel(setup.p.diffusion, setup.p.start, options.begin),
                                first_panel(setup.q.diffusion, setup.q.start, options.begin));
  const bool bounded = dimension == 2 || depends_on_time(setup, times.back());
  const double longest = options.longest_panel.value_or(bounded ? 16.0 * first : kInf);
  // Before they are listed: panels that double up to the longest, then all as long as that.
  const double duration = times.back() - options.begin;
  const double panels = duration / longest + std::log2(1.0 + duration / first);
  const double steps = panels * static_cast<double>(chosen.steps_per_panel);
  const double cells =
      std::pow(static_cast<double>(chosen.cells_per_axis), static_cast<double>(dimension));
  const bool too_much = options.cells_per_axis == 0 && steps * cells > kMostWork;
  if (!(steps < kMostSteps) || too_much) refuse_steps();
  setup.plan =
      time_plan(options.begin, times,
                {std::min(first, longest), longest, chosen.steps_per_panel >> (chosen.levels - 1)});
}

Index steps_in(const std::vector<TimePanel>& plan) {
  Index steps = 0;
  for (const TimePanel& panel : plan) steps += panel.steps;
  return steps;
}

/// Cells that resolve the starts and, on the coarsest grid, the drift: found from a run on that grid.
void choose_cells(Setup& setup, const FokkerPlanckOptions& options) {
  const Index dimension = setup.p.diffusion.dimension;
  Index& cells = setup.options.cells_per_axis;
  cells = std::max<Index>(dimension == 1 ? 1200 : 160, cells_for_starts(setup));
  plan_steps(setup, options);
  const double peclet = Level(setup, 0, nullptr, 0, 0).run().peclet_number;
  if (peclet <= kResolvedPeclet) return;
  const double wanted = 1.05 * peclet * static_cast<double>(cells);
  cells = std::max(cells,
                   multiple_of_four(std::min(wanted, static_cast<double>(most_cells(dimension)))));
}

}  // namespace

Claimed<Nats> claimed_entropy(const GridEstimate& estimate) {
  return {Nats(estimate.value),
          Claim::estimate,
          "Fokker-Planck, finite volumes, extrapolated",
          {fmt::format("the last extrapolation changed it by {:.1e}", estimate.error)}};
}

PairSolution solve_fokker_planck_pair(const StartedDiffusion& p, const StartedDiffusion& q,
                                      const std::vector<double>& times,
                                      const FokkerPlanckOptions& options, Observer* observer) {
  const Index dimension = p.diffusion.dimension;
  if (dimension < 1 || dimension > 2) {
    throw InvalidArgument(fmt::format("dimension = {}", dimension),
                          "Fokker-Planck grids have 1 or 2 dimensions; use bounds or simulation");
  }
  require_size("q.diffusion", q.diffusion.dimension, dimension);
  for (const StartedDiffusion* distribution : {&p, &q}) {
    require_size("start.mean", distribution->start.mean.size(), dimension);
    require_size("start.covariance", sfumato::dimension(distribution->start.covariance), dimension);
  }
  require_options(options, dimension);
  if (times.empty()) throw InvalidArgument("no times were given", "Give at least one");
  double before = options.begin;
  for (const double time : times) {
    if (!(std::isfinite(time) && time >= before)) {
      throw InvalidArgument(fmt::format("time {} is not finite or comes before {}", time, before),
                            "Give ascending finite times from the begin on");
    }
    before = time;
  }

  const LinearMap map = diagonalising_map(p.diffusion, q.diffusion);
  Setup setup = prepare(p, q, times, map, options);
  if (options.cells_per_axis == 0) choose_cells(setup, options);
  plan_steps(setup, options);
  const Index coarse_steps = steps_in(setup.plan);
  const Index total = coarse_steps * ((Index{1} << options.levels) - 1);

  std::vector<LevelRun> runs;
  std::unique_ptr<Level> level;
  for (int refinement = 0; refinement < options.levels; ++refinement) {
    const Index done = coarse_steps * ((Index{1} << refinement) - 1);
    level = std::make_unique<Level>(setup, refinement, observer, done, total);
    runs.push_back(level->run());
  }
  PairSolution solution{level->grid(),
                        map.forward,
                        {},
                        runs.back().boundary_mass,
                        runs.back().mass_error,
                        runs.front().peclet_number,
                        coarse_steps << (options.levels - 1),
                        false};
  std::size_t reached = times.size();
  for (const LevelRun& run : runs) reached = std::min(reached, run.numbers.size());
  solution.stopped = reached < times.size();
  for (std::size_t k = 0; k < reached; ++k) {
    solution.rows.push_back(
        row_from(times[k], runs, k, static_cast<Index>(options.epsilons.size())));
    if (options.keep_densities) {
      solution.rows.back().p = std::move(runs.back().p[k]);
      solution.rows.back().q = std::move(runs.back().q[k]);
    }
  }
  return solution;
}

}  // namespace sfumato
