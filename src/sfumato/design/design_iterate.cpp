#include "sfumato/design/design_iterate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/design/noise_judges.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/problem/risk_keys.hpp"
#include "sfumato/problem/risk_questions.hpp"
#include "sfumato/problem/sde_file.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

std::vector<Index> read_groups(const std::string& path, Index dimension) {
  const VectorXd numbers = read_vector(path, "the list of groups", dimension);
  std::map<double, Index> names;  // groups are numbered in the order of their names
  for (const double number : numbers) names.emplace(number, 0);
  Index next = 0;
  for (auto& [name, index] : names) index = next++;
  std::vector<Index> groups;
  for (const double number : numbers) groups.push_back(names.at(number));
  return groups;
}

/// All paths at up to 65 times are kept at once.
constexpr double kMostNumbers = 3e7;
/// Operations for one round: a few seconds.
constexpr double kWork = 1e10;
constexpr double kMostPaths = 2000.0;

void require_alone(const DesignQuestion& question) {
  const auto refuse = [](bool given, const char* key) {
    if (given) refuse_key(key, "cannot be combined with `problem`");
  };
  if (!question.differences.empty()) refuse_key("problem", "cannot be combined with `differences`");
  refuse(!question.second_moments.empty(), "second_moments");
  refuse(!question.sensitivities.empty(), "sensitivities");
  refuse(question.objective != DesignObjective::automatic, "objective");
  refuse(question.cost.has_value(), "cost");
  refuse(!question.frontier.empty(), "frontier");
  if (question.form == DesignForm::low_rank) {
    refuse_key("form", "low-rank cannot be combined with `problem`");
  }
  if (question.time) {
    require_key("time", *question.time,
                [](double value) { return value > 0.0 ? nullptr : "is not a time > 0"; });
  }
}

double time_of(const DesignQuestion& question, const SdeProblem& problem) {
  const bool linear = problem.pair.linear.has_value();
  if (question.time) {
    if (!linear && std::isinf(*question.time)) {
      throw InvalidArgument("simulation needs a finite time", "", Where::key("time"));
    }
    return *question.time;
  }
  for (auto time = problem.times.rbegin(); time != problem.times.rend(); ++time) {
    if (*time > 0.0 && (linear || std::isfinite(*time))) return *time;
  }
  throw InvalidArgument("`flow.times` has no time at which this pair can be compared",
                        linear ? "Give a time > 0" : "Give a finite time > 0",
                        Where::in(problem.source));
}

NoiseJudge judge_of(const Iteration& iteration, const DesignQuestion& question,
                    Observer& observer) {
  if (iteration.problem.pair.linear) {
    return [&iteration](const Covariance& noise) {
      return judge_linear(*iteration.problem.pair.linear, noise, iteration.time);
    };
  }
  SimulatedJudgeOptions judge;
  judge.simulation.paths = iteration.size.paths;
  judge.simulation.random.seed = iteration.problem.plan.seed;
  judge.simulation.threads = question.threads;
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

/// What is proven about a noise beside the number that is minimised.
Claimed<Nats> beside(const Iteration& iteration, const Covariance& noise) {
  const SdePair pair = iteration.problem.with_noise(noise);
  if (pair.linear) return exact_kl(swapped(*pair.linear), iteration.time);
  return best_proven_kl(closed_form_bounds(pair, iteration.time), &PairBound::forward);
}

}  // namespace

void refuse_key(const char* key, const std::string& problem) {
  throw InvalidArgument(problem, "", Where::key(key));
}

const char* not_a_budget(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite number > 0";
}

VectorXd read_vector(const std::string& path, const char* what, Index expected) {
  const Array array = located(Where::in(path), [&] { return read_array(path); });
  if (array.rank == 2) {
    throw InvalidArgument(fmt::format("{} has shape {}", what, shape_text(array)),
                          "Give one number per coordinate", Where::in(path));
  }
  if (expected > 0 && array.values.rows() != expected) {
    throw InvalidArgument(fmt::format("{} has {} entries, the problem {} coordinates", what,
                                      array.values.rows(), expected),
                          "Give one number per coordinate", Where::in(path));
  }
  return array.values.col(0);
}

ErrorAmount amount_of(const DesignQuestion& question) {
  struct Given {
    const char* key;
    DesignMeasure measure;
    std::optional<double> value;
  };
  std::vector<ErrorAmount> given;
  for (const Given& budget :
       {Given{"trace", DesignMeasure::trace, question.trace},
        Given{"excess_loss", DesignMeasure::excess_loss, question.excess_loss},
        Given{"distance", DesignMeasure::distance, question.distance},
        Given{"budget", DesignMeasure::budget, question.budget}}) {
    if (!budget.value) continue;
    require_key(budget.key, *budget.value, not_a_budget);
    given.push_back({budget.measure, budget.value});
  }
  const bool open = question.cost.has_value() || !question.frontier.empty();
  const ErrorAmount unknown{
      question.measure == DesignMeasure::automatic ? DesignMeasure::trace : question.measure,
      std::nullopt};
  if (!question.problem.empty() && given.empty() && !open) return unknown;
  if (given.size() + static_cast<std::size_t>(open) != 1 ||
      (question.cost && !question.frontier.empty())) {
    refuse_key("trace",
               "give exactly one of `trace`, `excess_loss`, `distance`, `budget`, `cost` and "
               "`frontier`");
  }
  if (open) return unknown;
  if (question.measure != DesignMeasure::automatic) {
    refuse_key("measure", "needs `cost` or `frontier`");
  }
  return given.front();
}

ErrorMeasure read_measure(const DesignQuestion& question, DesignMeasure measure, Index dimension,
                          const std::optional<Covariance>& own_hessian) {
  const auto no_weights = [&] {
    if (!question.weights.empty()) refuse_key("weights", "needs `budget`");
  };
  if (measure != DesignMeasure::distance && !question.hessian.empty()) {
    refuse_key("hessian", "needs `distance`");
  }
  if (measure == DesignMeasure::trace) {
    no_weights();
    return {"trace of Sigma", Isotropic{1.0, dimension}, 1.0};
  }
  if (measure == DesignMeasure::excess_loss) {
    no_weights();
    return {"stationary excess loss, tr(Sigma)/4", Isotropic{1.0, dimension}, 0.25};
  }
  if (measure == DesignMeasure::distance) {
    no_weights();
    if (question.hessian.empty() && !own_hessian) {
      refuse_key("distance", "needs a `hessian`");
    }
    const Covariance hessian = question.hessian.empty()
                                   ? *own_hessian
                                   : read_covariance(question.hessian, dimension).covariance;
    const Where place = question.hessian.empty() ? Where::here() : Where::in(question.hessian);
    return {"stationary squared distance, tr(A^{-1} Sigma)/2",
            located(place, [&] { return distance_budget(hessian, 1.0).weights; }), 1.0};
  }
  if (question.weights.empty()) refuse_key("budget", "needs `weights`");
  Covariance weights = read_covariance(question.weights, dimension).covariance;
  if (!is_definite(weights)) {
    throw InvalidArgument("the weights are not positive definite",
                          "Give every direction a positive weight; otherwise noise there is free",
                          Where::in(question.weights));
  }
  return {"tr(W Sigma)", std::move(weights), 1.0};
}

DesignTask read_task(const DesignQuestion& question, const ErrorMeasure& measure, double total,
                     Index dimension) {
  require_key("floor", question.floor, not_a_strength);
  require_key("regularise", question.regularise, not_a_strength);
  if (question.tolerance) require_key("tolerance", *question.tolerance, not_a_budget);
  DesignTask task{.budget = {measure.weights, total}, .form = question.form};
  if ((task.form == DesignForm::grouped) == question.groups.empty()) {
    refuse_key("groups", question.groups.empty() ? "the grouped form needs the group of each "
                                                   "coordinate"
                                                 : "needs the form grouped");
  }
  if (!question.groups.empty()) task.groups = read_groups(question.groups, dimension);
  if (question.floor > 0.0) task.floor = VectorXd::Constant(dimension, question.floor);
  task.regularisation = question.regularise;
  return task;
}

double gain(double before, double after) { return before == after ? 1.0 : before / after; }

Iteration read_iteration(const DesignQuestion& question) {
  require_alone(question);
  const ErrorAmount amount = amount_of(question);
  const TomlTable table = TomlTable::read(question.problem);
  (void)read_risk(table);  // it is not used here, and a mistake in it is one
  SdeProblem problem = read_sde_problem(table, question.problem);
  if (!problem.with_noise) {
    throw InvalidArgument("its noise cannot be chosen freely",
                          "Give a quadratic loss or a model with one constant Sigma for both sides",
                          Where::in(question.problem));
  }
  std::optional<Covariance> hessian;
  if (problem.pair.linear) hessian = Dense{problem.pair.linear->p.curvature};
  ErrorMeasure measure = read_measure(question, amount.measure, problem.dimension(), hessian);
  const double total =
      amount.value ? *amount.value / measure.scale
                   : weighted_trace(measure.weights, *constant_noise(problem.pair.p.diffusion));
  DesignTask task = read_task(question, measure, total, problem.dimension());
  const double time = time_of(question, problem);
  problem.times = {time};
  SimulationSize size = simulation_size(problem);
  if (problem.plan.paths == 0) {
    const double by_memory = kMostNumbers / (65.0 * static_cast<double>(problem.dimension()));
    const double by_work = kWork * size.step / (problem.work * std::min(time, 1e300));
    size.paths =
        static_cast<std::uint64_t>(std::max(100.0, std::min({by_memory, by_work, kMostPaths})));
  }
  return {std::move(problem), std::move(measure), std::move(task), time, size};
}

IterationAnswer iterate(const Iteration& iteration, const DesignQuestion& question,
                        Observer& observer) {
  const SdeProblem& problem = iteration.problem;
  IteratedDesign design = iterate_design(
      judge_of(iteration, question, observer), iteration.task,
      {.max_rounds = question.rounds.value_or(20), .tolerance = question.tolerance.value_or(1e-6)},
      observer);
  std::vector<Claimed<Nats>> others;
  for (const DesignRound& round : design.rounds) others.push_back(beside(iteration, round.noise));
  const double isotropic = iteration.task.budget.total / trace(iteration.task.budget.weights);
  const Eigen::VectorXd variances = diagonal_of(design.result().noise);
  return {problem.kind.d,       problem.way_of_change,
          iteration.time,       problem.pair.linear.has_value(),
          iteration.size.paths, problem.plan.seed,
          iteration.size.step,  std::move(design),
          std::move(others),    (variances.array() < kBareShare * isotropic).count()};
}

}  // namespace sfumato
