#include "sfumato/answers/design/iterate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sfumato/answers/bound/estimates.hpp"
#include "sfumato/answers/bound/evaluate.hpp"
#include "sfumato/answers/bound/problem.hpp"
#include "sfumato/answers/design/document.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/core/version.hpp"
#include "sfumato/design/noise_judges.hpp"

namespace sfumato {
namespace {

/// All paths at up to 65 times are kept at once.
constexpr double kMostNumbers = 3e7;
/// Operations for one round: a few seconds.
constexpr double kWork = 1e10;
constexpr double kMostPaths = 2000.0;
/// Below this share of the isotropic variance a direction counts as nearly bare.
constexpr double kBare = 1e-2;

void require_alone(const DesignOptions& options) {
  const auto refuse = [](bool given, const char* option) {
    if (given) throw InvalidArgument("does not go with `problem`", "", Where::key(option));
  };
  refuse(!options.differences.empty(), "differences");
  refuse(!options.second_moments.empty(), "second_moments");
  refuse(!options.sensitivities.empty(), "sensitivities");
  refuse(!options.objective.empty(), "objective");
  refuse(options.risk.has_value(), "risk");
  refuse(!options.frontier.empty(), "frontier");
  refuse(options.form == "low-rank", "form");
  if (options.time) {
    require_key("time", *options.time,
                [](double value) { return value > 0.0 ? nullptr : "is not a time > 0"; });
  }
}

double time_of(const DesignOptions& options, const BoundProblem& problem) {
  const bool linear = problem.pair.linear.has_value();
  if (options.time) {
    if (!linear && std::isinf(*options.time)) {
      throw InvalidArgument("simulation stops at finite times", "", Where::key("time"));
    }
    return *options.time;
  }
  for (auto time = problem.times.rbegin(); time != problem.times.rend(); ++time) {
    if (*time > 0.0 && (linear || std::isfinite(*time))) return *time;
  }
  throw InvalidArgument("`flow.times` has no time at which this pair can be judged",
                        linear ? "Give a time > 0" : "Give a finite time > 0",
                        Where::in(problem.source));
}

struct Iteration {
  BoundProblem problem;
  ErrorMeasure measure;
  DesignTask task;
  double time;
  SimulationSize size;  ///< where laws are simulated
};

Iteration read_iteration(const DesignOptions& options) {
  require_alone(options);
  const Amount amount = amount_of(options);
  BoundProblem problem = read_bound_problem(options.problem, {});
  if (!problem.with_noise) {
    throw InvalidArgument("its noise is not free to choose",
                          "Give a quadratic loss or a model with one constant Sigma for both sides",
                          Where::in(options.problem));
  }
  std::optional<Covariance> hessian;
  if (problem.pair.linear) hessian = Dense{problem.pair.linear->p.curvature};
  ErrorMeasure measure = read_measure(options, amount.name, problem.dimension(), hessian);
  const double total =
      amount.value ? *amount.value / measure.scale
                   : weighted_trace(measure.weights, *constant_noise(problem.pair.p.diffusion));
  DesignTask task = read_task(options, measure, total, problem.dimension());
  const double time = time_of(options, problem);
  problem.times = {time};
  SimulationSize size = simulation_size(problem);
  if (!problem.plan.paths) {
    const double by_memory = kMostNumbers / (65.0 * static_cast<double>(problem.dimension()));
    const double by_work = kWork * size.step / (problem.work * std::min(time, 1e300));
    size.paths =
        static_cast<std::uint64_t>(std::max(100.0, std::min({by_memory, by_work, kMostPaths})));
  }
  return {std::move(problem), std::move(measure), std::move(task), time, size};
}

NoiseJudge judge_of(const Iteration& iteration, const DesignOptions& options, Observer& observer) {
  if (iteration.problem.pair.linear) {
    return [&iteration](const Covariance& noise) {
      return judge_linear(*iteration.problem.pair.linear, noise, iteration.time);
    };
  }
  SimulatedJudgeOptions judge;
  judge.simulation.paths = iteration.size.paths;
  judge.simulation.random.seed = iteration.problem.plan.seed;
  judge.simulation.threads = static_cast<unsigned>(options.threads);
  judge.step = iteration.size.step;
  const Diffusion& other = iteration.problem.pair.q.diffusion;
  if (other.contraction) {  // that of isotropic noise, the fastest there is
    judge.rate = std::max(0.0, other.contraction(Isotropic{1.0, other.dimension}));
  }
  judge.diagonal = iteration.task.form != DesignForm::full;
  return [&iteration, &observer, judge](const Covariance& noise) {
    return judge_by_simulation(iteration.problem.with_noise(noise), iteration.time, judge,
                               observer);
  };
}

/// How much smaller a KL became; 1 where it did not, also if both are 0 or infinite.
double gain(double before, double after) { return before == after ? 1.0 : before / after; }

/// What is proven about a noise beside the number that is minimised.
Claimed<Nats> proven_of(const Iteration& iteration, const Covariance& noise) {
  const SdePair pair = iteration.problem.with_noise(noise);
  if (pair.linear) return exact_kl(swapped(*pair.linear), iteration.time);
  return best_proven(closed_form_bounds(pair, iteration.time), &PairBound::forward);
}

Table rounds_table(const Iteration& iteration, const IteratedDesign& design) {
  const bool linear = iteration.problem.pair.linear.has_value();
  Table table("rounds", fmt::format("Rounds, judged at t = {}", iteration.time),
              {{"round", "round"},
               {"kl", linear ? "KL(D||D')" : "bound on KL(D||D')", "nats"},
               {"proven", linear ? "KL(D'||D)" : "proven KL(D||D')", "nats"},
               {"gain", "gain"},
               {"kept", "kept"}});
  const double first = design.rounds.front().kl.value.value();
  for (std::size_t i = 0; i < design.rounds.size(); ++i) {
    const DesignRound& round = design.rounds[i];
    const Claimed<Nats> proven = proven_of(iteration, round.noise);
    table.add_row(
        {static_cast<std::int64_t>(i), round.kl,
         std::isfinite(proven.value.value()) ? Cell(proven) : Cell(Empty{"nothing is proven here"}),
         Claimed<double>{gain(first, round.kl.value.value()), round.kl.claim,
                         "KL of round 0 over that of this round"},
         i == 0 ? "isotropic" : (round.accepted ? "yes" : "no: not better")});
  }
  return table;
}

Table summary_table(const Iteration& iteration, const IteratedDesign& design) {
  const Covariance& noise = design.result().noise;
  Table table(
      "design", "Design",
      {{"quantity", "quantity"}, {"value", "value", "", NumberStyle::general, Align::right}});
  table.add_row({"form", std::string(name(iteration.task.form))});
  table.add_row({"coordinates", iteration.problem.dimension()});
  table.add_row(
      {iteration.measure.name,
       Claimed<double>{iteration.measure.scale * weighted_trace(iteration.measure.weights, noise),
                       Claim::exact, "spent by this covariance"}});
  table.add_row({"KL(D||D') with isotropic noise", design.rounds.front().kl});
  table.add_row({"KL(D||D') with this noise", design.result().kl});
  table.add_row({"gain over isotropic",
                 Claimed<double>{
                     gain(design.rounds.front().kl.value.value(), design.result().kl.value.value()),
                     design.result().kl.claim, "ratio of the two"}});
  return table;
}

}  // namespace

IterationAnswer iterate_on_problem(const DesignOptions& options, Observer& observer) {
  const Iteration iteration = read_iteration(options);
  const BoundProblem& problem = iteration.problem;
  const IteratedDesign design = iterate_design(
      judge_of(iteration, options, observer), iteration.task,
      {.max_rounds = options.rounds.value_or(20), .tolerance = options.tolerance.value_or(1e-6)},
      observer);
  const Covariance& noise = design.result().noise;

  Document document = new_document("design", "Noise for " + options.problem);
  state_origin(document, fmt::format("Gradient differences of one pair, {},", problem.kind[0]),
               options.problem, options.origin == "private");
  if (!problem.way_of_change.empty()) {
    document.state(StatementKind::info, problem.way_of_change + ".");
  }
  document.state(
      StatementKind::info,
      problem.pair.linear
          ? "The differences depend on where training is, and that on the noise: each "
            "round designs for the slope of the exact KL at the noise before."
          : fmt::format("The differences depend on where training is, and that on the "
                        "noise: each round designs for those of {} simulated paths (seed "
                        "{}, steps of {}) under the noise before.",
                        iteration.size.paths, problem.plan.seed, iteration.size.step));
  document.state(StatementKind::assumption,
                 "one pair of data sets: the noise that hides this record best may show another.");
  document.add(rounds_table(iteration, design));
  document.add(summary_table(iteration, design));
  add_shares(document, iteration.task, noise, options.top);
  document.state(StatementKind::info, fmt::format("Ended after round {}: {}.",
                                                  design.rounds.size() - 1, describe(design.end)));
  const double isotropic = iteration.task.budget.total / trace(iteration.task.budget.weights);
  const Eigen::VectorXd variances = diagonal_of(noise);
  const auto bare = (variances.array() < kBare * isotropic).count();
  if (bare > 0) {
    document.state(
        StatementKind::warning,
        fmt::format("{} coordinates have less than {} of the isotropic variance: another "
                    "record may be plain to see there (--floor gives them more).",
                    bare, kBare));
  }
  return {std::move(document),
          {noise,
           {{"command", "sfumato design"},
            {"version", std::string(kVersion)},
            {"problem", options.problem},
            {"differences_are", options.origin},
            {"objective", fmt::format("KL(D||D') at t = {}", iteration.time)},
            {"budget", fmt::format("{} = {}", iteration.measure.name,
                                   iteration.measure.scale * iteration.task.budget.total)},
            {"kl", fmt::format("{}", design.result().kl.value.value())},
            {"claim", std::string(name(design.result().kl.claim))}}}};
}

}  // namespace sfumato
