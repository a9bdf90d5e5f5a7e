#include "sfumato/bound/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sfumato/core/located.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/matched_pair.hpp"
#include "sfumato/divergence/matched_simulation.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/divergence/path_estimate.hpp"
#include "sfumato/divergence/score_estimate.hpp"
#include "sfumato/problem/simulation_size.hpp"

namespace sfumato {
namespace {

using MethodsByTime = std::vector<std::vector<PairBound>>;

KlBound estimate(double value, std::string method) {
  return {{Nats{value}, Claim::estimate, std::move(method)}, {}};
}

void add_to_all(MethodsByTime& methods, BoundMethod method, const std::string& reason) {
  const KlBound none = no_bound(std::string(title(method)), reason);
  for (auto& at : methods) at.push_back({method, none, none});
}

// ---------------------------------------------------------------- grid

// The masses of the cells sum to 1 and are rounded: a sum of their differences that is smaller than
// this says that the grid sees none, not how small the value is.
constexpr double kGridResolution = 1e-15;

double resolved(double value) { return value < kGridResolution ? 0.0 : value; }

Claimed<double> claimed(const GridEstimate& value) {
  return {std::clamp(value.value, 0.0, 1.0), Claim::estimate, "Fokker-Planck on a grid"};
}

GridRisk grid_risk(const PairAtTime& at) {
  GridRisk risk{claimed(at.total_variation), {}};
  risk.advantage.value = resolved(risk.advantage.value);
  for (const GridEstimate& delta : at.forward.deltas) risk.delta[0].push_back(claimed(delta));
  for (const GridEstimate& delta : at.reverse.deltas) risk.delta[1].push_back(claimed(delta));
  return risk;
}

PairBound grid_row(BoundMethod method, const PairAtTime& at, GridEstimate PairDirection::*member) {
  const GridEstimate& forward = at.forward.*member;
  const GridEstimate& reverse = at.reverse.*member;
  const auto bound = [&](const GridEstimate& value) {
    // A last correction of this size says that the distributions are narrower than the cells can show.
    if (value.error > 0.1 * std::abs(value.value) && value.error > 1e-6) {
      return no_bound(
          std::string(title(method)),
          fmt::format("the grid is too coarse (last correction {:.0f} % of the value): increase "
                      "estimate.cells",
                      100.0 * value.error / std::abs(value.value)));
    }
    return estimate(resolved(value.value), "Fokker-Planck on a grid, extrapolated");
  };
  const double error = std::max(forward.error, reverse.error);
  const bool seen = std::max(forward.value, reverse.value) >= kGridResolution;
  return {method, bound(forward), bound(reverse),
          seen ? fmt::format("grid, error about {:.0e}", std::max(error, kGridResolution))
               : fmt::format("grid, no difference above {:.0e}", std::max(error, kGridResolution))};
}

/// True when the grid gave numbers.
bool add_grid(const BoundQuestion& question, const std::vector<double>& times, Observer& observer,
              Estimates& result) {
  const SdeProblem& problem = question.problem;
  if (problem.dimension() > 2) {
    add_to_all(result.methods, BoundMethod::fokker_planck,
               "grids are only for one and two dimensions");
    return false;
  }
  if (!is_definite(problem.pair.p.start.covariance) ||
      !is_definite(problem.pair.q.start.covariance)) {
    add_to_all(result.methods, BoundMethod::fokker_planck,
               "a grid needs a start with a density: give start_covariance");
    return false;
  }
  FokkerPlanckOptions options;
  options.cells_per_axis = problem.plan.cells;
  if (!problem.plan.domain.empty()) options.domain = problem.plan.domain;
  options.epsilons = question.risk.epsilons;
  try {
    const PairSolution solution =
        solve_fokker_planck_pair(problem.pair.p, problem.pair.q, times, options, &observer);
    for (std::size_t i = 0; i < solution.rows.size(); ++i) {
      const PairAtTime& at = solution.rows[i];
      auto& methods = result.methods[i];
      methods.push_back(grid_row(BoundMethod::fokker_planck, at, &PairDirection::kl));
      if (same_noise(problem.pair)) {
        methods.push_back(grid_row(BoundMethod::path_grid, at, &PairDirection::primal_bound));
      } else if (!problem.pair.linear) {
        methods.push_back(grid_row(BoundMethod::primal_grid, at, &PairDirection::primal_bound));
        methods.push_back(grid_row(BoundMethod::dual_grid, at, &PairDirection::dual_bound));
        methods.push_back(grid_row(BoundMethod::minimum_grid, at, &PairDirection::minimum_bound));
      }
      result.grid.push_back(grid_risk(at));
    }
    return !solution.rows.empty();
  } catch (const Error& error) {
    // A grid that the file asked for is the user's to correct; one that was chosen here is not.
    if (dynamic_cast<const InternalError*>(&error) != nullptr) throw;
    if (!problem.plan.domain.empty()) located(Where::key("domain"), [] { throw; });
    add_to_all(result.methods, BoundMethod::fokker_planck, error.advice());
    return false;
  }
}

// ---------------------------------------------------------------- paths

std::string paths_note(const MonteCarloMean& forward, const MonteCarloMean& reverse,
                       std::uint64_t diverged) {
  if (diverged > 0) return fmt::format("{} paths diverged: reduce estimate.step", diverged);
  const auto error = [](const MonteCarloMean& mean) {  // rounding is no spread
    return mean.standard_error > 1e-14 * mean.value ? mean.standard_error : 0.0;
  };
  return fmt::format("Monte Carlo, s.e. {:.1g}, {:.1g}", error(forward), error(reverse));
}

/// The proven rate of a drift in the metric of the noise; 0 where none is proven or it is negative.
double rate_of(const Diffusion& diffusion, const Known<Covariance>& noise) {
  if (!noise.value || !diffusion.contraction) return 0.0;
  return std::max(0.0, diffusion.contraction(*noise.value));
}

struct DirectionOfPaths {
  PathEstimate estimate;
  double start;  ///< KL of the starts, added to every bound
  double rate;
};

DirectionOfPaths run_paths(const SdeProblem& problem, const StartedDiffusion& p,
                           const StartedDiffusion& q, const std::vector<double>& times,
                           Observer& observer) {
  DirectionOfPaths result{};
  result.rate = rate_of(q.diffusion, common_noise(problem.pair));
  result.start = start_kl(p.start, q.start);
  PathEstimateOptions options;
  const SimulationSize size = simulation_size(problem);
  options.simulation.paths = size.paths;
  options.simulation.random.seed = problem.plan.seed;
  if (result.rate > 0.0) options.kappas.push_back(result.rate);
  result.estimate =
      path_estimate(p.diffusion, q.diffusion, p.start, {times, size.step}, options, observer).value;
  return result;
}

/// Why the paths are too long to simulate; empty if they are not.
std::string too_long(const SdeProblem& problem, const std::vector<double>& times) {
  const double steps = times.back() / simulation_size(problem).step;
  if (steps <= kMostSteps) return {};
  return fmt::format("paths of {:.0e} steps would take too long: increase estimate.step", steps);
}

void add_paths(const SdeProblem& problem, const std::vector<double>& times, Observer& observer,
               Estimates& result) {
  if (const std::string reason = too_long(problem, times); !reason.empty()) {
    add_to_all(result.methods, BoundMethod::path_simulated, reason);
    return;
  }
  try {
    const DirectionOfPaths forward =
        run_paths(problem, problem.pair.p, problem.pair.q, times, observer);
    const DirectionOfPaths reverse =
        run_paths(problem, problem.pair.q, problem.pair.p, times, observer);
    if (forward.estimate.paths < 2 || reverse.estimate.paths < 2) return;  // stopped
    const std::string method =
        fmt::format("Monte Carlo, {} paths, extrapolated to step 0", forward.estimate.paths);
    const auto entry = [](const DirectionOfPaths& d, std::size_t time,
                          bool contractive) -> const PathBoundEstimate* {
      const std::size_t kappas = d.rate > 0.0 ? 2 : 1;
      if (contractive && kappas == 1) return nullptr;
      return &d.estimate.bounds[time * kappas + (contractive ? 1 : 0)];
    };
    // Rate 0 is admissible too, so that the contractive bound is never above the path bound.
    const auto bound = [&](const DirectionOfPaths& d, const PathBoundEstimate* found,
                           const PathBoundEstimate* path) {
      if (found == nullptr) {
        return no_bound("contractive", "no positive contraction rate is proven: use the path KL");
      }
      const double value = std::min(found->extrapolated.value, path->extrapolated.value);
      return estimate(std::max(0.0, value) + d.start, method);
    };
    for (std::size_t i = 0; i < times.size(); ++i) {
      for (const bool contractive : {false, true}) {
        const PathBoundEstimate* f = entry(forward, i, contractive);
        const PathBoundEstimate* r = entry(reverse, i, contractive);
        if (f == nullptr && r == nullptr && problem.pair.linear)
          continue;  // the closed form says it
        const MonteCarloMean none{0.0, 0.0};
        const std::uint64_t diverged =
            (f != nullptr ? f->diverged : 0) + (r != nullptr ? r->diverged : 0);
        result.methods[i].push_back(
            {contractive ? BoundMethod::contractive_simulated : BoundMethod::path_simulated,
             bound(forward, f, entry(forward, i, false)),
             bound(reverse, r, entry(reverse, i, false)),
             f == nullptr && r == nullptr
                 ? std::string()
                 : paths_note(f != nullptr ? f->extrapolated : none,
                              r != nullptr ? r->extrapolated : none, diverged)});
      }
    }
  } catch (const InvalidArgument& error) {
    add_to_all(result.methods, BoundMethod::path_simulated, error.advice());
  }
}

// ---------------------------------------------------------------- particles

constexpr std::size_t kScoreTimes = 16;

void add_scores(const SdeProblem& problem, const std::vector<double>& times, Observer& observer,
                Estimates& result) {
  if (!is_definite(problem.pair.p.start.covariance) ||
      !is_definite(problem.pair.q.start.covariance)) {
    add_to_all(result.methods, BoundMethod::primal_particles,
               "point start and different noise: the integral is infinite. Give the start a "
               "covariance (start_covariance)");
    return;
  }
  if (const std::string reason = too_long(problem, times); !reason.empty()) {
    add_to_all(result.methods, BoundMethod::primal_particles, reason);
    return;
  }
  std::set<double> when(times.begin(), times.end());
  for (std::size_t i = 1; i <= kScoreTimes; ++i) {
    when.insert(times.back() * static_cast<double>(i) / kScoreTimes);
  }
  when.erase(0.0);
  const TimeGrid grid{{when.begin(), when.end()}, simulation_size(problem).step};
  for (const ScoreForm form : {ScoreForm::primal, ScoreForm::dual}) {
    const bool primal = form == ScoreForm::primal;
    const BoundMethod method = primal ? BoundMethod::primal_particles : BoundMethod::dual_particles;
    ScoreEstimateOptions options;
    options.form = form;
    options.seed = problem.plan.seed;
    if (problem.work > 1000.0) {
      options.particles = options.points = 300;
      options.repetitions = 8;
    }
    options.last_step = std::min(options.last_step, times.back() / kScoreTimes);
    try {
      const auto run = [&](const StartedDiffusion& p, const StartedDiffusion& q) {
        return score_estimate(p.diffusion, p.start, q.diffusion, q.start, grid, options, observer)
            .value;
      };
      const auto forward = run(problem.pair.p, problem.pair.q);
      const auto reverse = run(problem.pair.q, problem.pair.p);
      if (observer.stop_requested()) return;
      const double start_forward = start_kl(problem.pair.p.start, problem.pair.q.start);
      const double start_reverse = start_kl(problem.pair.q.start, problem.pair.p.start);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const auto found = [&](const std::vector<ScoreBoundEstimate>& all) {
          return std::find_if(all.begin(), all.end(), [&](const ScoreBoundEstimate& entry) {
            return entry.time == times[i];
          });
        };
        const auto f = found(forward);
        const auto r = found(reverse);
        if (f == forward.end() || r == reverse.end()) continue;
        const auto bound = [&](const MonteCarloMean& mean, double start) {
          return estimate(std::max(0.0, mean.value) + start,
                          "Monte Carlo with scores of particles");
        };
        result.methods[i].push_back({method, bound(f->integral, start_forward),
                                     bound(r->integral, start_reverse),
                                     paths_note(f->integral, r->integral, 0)});
      }
    } catch (const InvalidArgument& error) {
      add_to_all(result.methods, method, error.advice());
    }
  }
}

// ---------------------------------------------------------------- matched process

/// The metric in which the second drift is proven to contract fastest; empty where it is in none.
std::optional<MetricRate> best_metric(const StartedDiffusion& q) {
  std::vector<MetricRate> metrics = contraction_metrics(q.diffusion, *constant_noise(q.diffusion));
  if (metrics.empty()) return std::nullopt;
  if (metrics.size() > 1 && metrics[0].kappa <= 0.0 && metrics[1].kappa > 0.0) return metrics[1];
  return metrics[0];
}

std::optional<MatchedEstimate> matched_direction(const SdeProblem& problem,
                                                 const StartedDiffusion& p,
                                                 const StartedDiffusion& q, double time,
                                                 std::size_t times, Observer& observer) {
  const auto metric = best_metric(q);
  if (!metric) return std::nullopt;
  MatchedSimulationOptions options;
  options.seed = problem.plan.seed;
  if (problem.plan.paths > 0) options.paths = std::max<std::uint64_t>(problem.plan.paths, 2);
  // As many as take seconds for all times together.
  options.most_steps = std::clamp<std::uint64_t>(20'000 / times, 400, 2000);
  return matched_process_estimate(p, q.diffusion, metric->kappa, metric->metric, time, options,
                                  observer);
}

KlBound matched_bound(const MatchedEstimate& found, double start) {
  const char* const method = "matched process, simulated";
  if (found.steps_needed > 0.0) {
    return no_bound(method,
                    fmt::format("the drift is stiff: paths of {:.0e} steps would take too long. "
                                "Ask for a shorter time",
                                found.steps_needed));
  }
  if (found.diverged > 0) {
    return no_bound(method, fmt::format("{} of the simulated paths left the numbers: the drift is "
                                        "too steep for any step that is tried",
                                        found.diverged));
  }
  return estimate(std::max(0.0, found.at_half_step.value) + start, method);
}

/// Both step sizes, and the upper confidence limit at the shorter one.
std::string matched_note(const MatchedEstimate& forward, double start_p,
                         const MatchedEstimate& reverse, double start_q) {
  constexpr double kQuantile = 1.6448536269514722;  // one-sided, 95 %
  std::vector<std::string> limits, twice;
  for (const auto& [found, start] : {std::pair{&forward, start_p}, std::pair{&reverse, start_q}}) {
    if (!found->has_value()) continue;
    const MonteCarloMean& mean = found->at_half_step;
    limits.push_back(fmt::format("{:.4g}", start + mean.value + kQuantile * mean.standard_error));
    twice.push_back(fmt::format("{:.4g}", start + std::max(0.0, found->at_step.value)));
  }
  if (limits.empty()) return {};
  const double share = std::min(forward.fisher_share, reverse.fisher_share);
  return fmt::format("95 % below {}; {} with steps twice as long{}", fmt::join(limits, ", "),
                     fmt::join(twice, ", "),
                     share > 0.0
                         ? fmt::format("; the Fisher information is at least about {:.0f} % of its "
                                       "bound",
                                       100.0 * std::min(1.0, share))
                         : std::string());
}

void add_matched(const SdeProblem& problem, const std::vector<double>& times, Observer& observer,
                 Estimates& result) {
  const SdePair& pair = problem.pair;
  const char* reason = nullptr;
  if (pair.p.diffusion.formulas == nullptr || pair.q.diffusion.formulas == nullptr) return;
  if (constant_noise(pair.p.diffusion) == nullptr || constant_noise(pair.q.diffusion) == nullptr) {
    reason = "needs constant noise";
  } else if (!is_definite(*constant_noise(pair.p.diffusion)) ||
             !is_definite(*constant_noise(pair.q.diffusion))) {
    reason = "needs noise in every direction";
  } else if (!same_noise(pair) &&
             (pair.p.diffusion.formulas->may_jump() || pair.q.diffusion.formulas->may_jump())) {
    reason = "a drift may jump, where its Jacobian is not all of its change";
  } else if (!best_metric(pair.p) || !best_metric(pair.q)) {
    reason = "no contraction rate of the drifts is proven";
  }
  if (reason != nullptr) return add_to_all(result.methods, BoundMethod::matched_simulated, reason);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0.0) continue;
    const auto forward =
        matched_direction(problem, pair.p, pair.q, times[i], times.size(), observer);
    const auto reverse =
        matched_direction(problem, pair.q, pair.p, times[i], times.size(), observer);
    if (!forward || !reverse || forward->stopped || reverse->stopped) return;
    const double start_p = start_kl(pair.p.start, pair.q.start),
                 start_q = start_kl(pair.q.start, pair.p.start);
    result.methods[i].push_back({BoundMethod::matched_simulated, matched_bound(*forward, start_p),
                                 matched_bound(*reverse, start_q),
                                 matched_note(*forward, start_p, *reverse, start_q)});
  }
}

}  // namespace

Estimates estimate_pair(const BoundQuestion& question, const std::vector<double>& times,
                        Observer& observer) {
  const SdeProblem& problem = question.problem;
  Estimates result;
  result.methods.resize(times.size());
  const bool by_grid = problem.plan.fokker_planck && add_grid(question, times, observer, result);
  if (!problem.plan.monte_carlo || observer.stop_requested() || times.back() == 0.0) return result;
  if (same_noise(problem.pair)) {
    add_paths(problem, times, observer, result);
  } else if (!by_grid && !problem.pair.linear) {
    add_scores(problem, times, observer, result);
  }
  if (!same_noise(problem.pair) && !problem.pair.linear && !observer.stop_requested()) {
    add_matched(problem, times, observer, result);
  }
  return result;
}

}  // namespace sfumato
