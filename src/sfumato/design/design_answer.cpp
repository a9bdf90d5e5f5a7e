#include "sfumato/design/design_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/core/memory.hpp"
#include "sfumato/data/row_matrix.hpp"
#include "sfumato/design/average_design.hpp"
#include "sfumato/design/budget_for_risk.hpp"
#include "sfumato/design/design_iterate.hpp"
#include "sfumato/design/design_keys.hpp"
#include "sfumato/design/differences.hpp"
#include "sfumato/design/minimax_design.hpp"
#include "sfumato/version.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kFrontierPoints = 21;

/// What is to be hidden: differences one by one, or their second moments.
struct Hidden {
  std::variant<RowMatrix, Covariance> what;
  std::string source;       ///< the file
  std::string description;  ///< "200 differences of 10 coordinates"
  Eigen::Index dimension;
};

Hidden read_differences(const std::string& path) {
  RowMatrix rows = located(Where::in(path), [&] { return read_row_matrix(path); });
  for (Index k = 0; k < rows.rows(); ++k) {
    if (!rows.view().row(k).isZero(0.0)) continue;
    throw InvalidArgument(fmt::format("row {} is zero, so there is nothing to hide", k + 1),
                          "Remove it", Where::in(path));
  }
  const Index count = rows.rows();
  const Index dimension = rows.cols();
  return {std::move(rows), path,
          fmt::format("{} gradient difference{} of {} coordinates", count, count == 1 ? "" : "s",
                      dimension),
          dimension};
}

Hidden read_hidden(const DesignQuestion& question) {
  const int given = static_cast<int>(!question.differences.empty()) +
                    static_cast<int>(!question.second_moments.empty()) +
                    static_cast<int>(!question.sensitivities.empty());
  if (given != 1) {
    refuse_key("differences", given == 0 ? "give a file of `differences`, `second_moments` or "
                                           "`sensitivities`, or a `problem`"
                                         : "give only one of `differences`, `second_moments` and "
                                           "`sensitivities`");
  }
  if (!question.differences.empty()) return read_differences(question.differences);
  if (!question.second_moments.empty()) {
    CovarianceFile file = read_covariance(question.second_moments);
    const Index dimension = sfumato::dimension(file.covariance);
    return {std::move(file.covariance), question.second_moments,
            fmt::format("second moments of differences of {} coordinates", dimension), dimension};
  }
  const VectorXd bounds = read_vector(question.sensitivities, "the list of sensitivities", 0);
  return {located(Where::in(question.sensitivities),
                  [&] { return Covariance(second_moments_of_box(bounds)); }),
          question.sensitivities,
          fmt::format("all differences within the sensitivities of {} coordinates", bounds.size()),
          bounds.size()};
}

/// tr(W Sigma) at each point of the frontier.
std::vector<double> frontier_of(const DesignQuestion& question, double scale) {
  if (question.frontier.empty()) return {};
  require_key("frontier", question.frontier, not_a_budget);
  if (question.frontier.size() != 2 || question.frontier[0] >= question.frontier[1]) {
    refuse_key("frontier", "needs the smallest and the largest error: LOW,HIGH");
  }
  std::vector<double> totals;
  for (int i = 0; i < kFrontierPoints; ++i) {
    const double share = static_cast<double>(i) / (kFrontierPoints - 1);
    const double error =
        std::pow(question.frontier[0], 1.0 - share) * std::pow(question.frontier[1], share);
    totals.push_back(error / scale);
  }
  return totals;
}

Design solve(const Hidden& hidden, const DesignAnswer& asked, const DesignTask& task,
             const SolverOptions& solver, Observer& observer) {
  if (const auto* matrix = std::get_if<RowMatrix>(&hidden.what)) {
    const Differences rows = matrix->view();
    if (asked.minimax) return minimax_design(rows, task, solver, observer);
    const bool full = task.form == DesignForm::full || task.form == DesignForm::low_rank;
    return average_design(full ? second_moment_matrix(rows) : Covariance(second_moments(rows)),
                          task);
  }
  return average_design(std::get<Covariance>(hidden.what), task);
}

bool is_full(DesignForm form) { return form == DesignForm::full || form == DesignForm::low_rank; }

void require_alone(const DesignQuestion& question) {
  if (question.time) refuse_key("time", "needs `problem`");
  if (question.rounds) refuse_key("rounds", "needs `problem`");
  if (question.cost) require_key("cost", *question.cost, not_a_budget);
  if (question.differences.empty() && question.objective == DesignObjective::minimax) {
    refuse_key("objective", "minimax needs the individual differences");
  }
}

/// Throws   InvalidArgument if the matrices of a full design do not fit into memory. One of low rank from few differences needs none.
void require_memory_for(const Hidden& hidden, DesignForm form) {
  constexpr double kMatrices = 6.0;
  const auto* rows = std::get_if<RowMatrix>(&hidden.what);
  const bool is_thin = rows != nullptr && rows->rows() < rows->cols();
  if (!is_full(form) || (form == DesignForm::low_rank && is_thin)) return;
  const double d = static_cast<double>(hidden.dimension);
  require_memory(
      kMatrices * sizeof(double) * d * d,
      fmt::format("a design of form {} for {} coordinates", name(form), hidden.dimension),
      "Use `form` = diagonal, or low_rank with fewer differences than coordinates",
      Where::in(hidden.source));
}

/// The design, or the designs, of differences or their moments.
DesignAnswer answer_by_differences(const DesignQuestion& question, Observer& observer) {
  const ErrorAmount amount = amount_of(question);
  require_alone(question);
  const Hidden hidden = read_hidden(question);
  ErrorMeasure measure = read_measure(question, amount.measure, hidden.dimension);
  DesignTask task = read_task(question, measure, amount.value ? *amount.value / measure.scale : 1.0,
                              hidden.dimension);
  require_memory_for(hidden, task.form);
  SolverOptions solver;
  if (question.tolerance) solver.tolerance = *question.tolerance;
  solver.threads = question.threads;
  solver.compare = is_full(task.form) && question.frontier.empty();
  const bool minimax =
      !question.differences.empty() && question.objective != DesignObjective::average;
  DesignAnswer result{question, hidden.source,      hidden.description,
                      minimax,  std::move(measure), std::move(task),
                      {}};
  const auto design_for = [&](double total) {
    DesignTask with_total = result.task;
    with_total.budget.total = total;
    return located(Where::in(hidden.source),
                   [&] { return solve(hidden, result, with_total, solver, observer); });
  };
  const std::vector<double> totals = frontier_of(question, result.measure.scale);
  if (!totals.empty()) {
    std::vector<DesignFrontierPoint> points;
    for (std::size_t i = 0; i < totals.size() && !observer.stop_requested(); ++i) {
      observer.progress("frontier", i, totals.size());
      Design design = design_for(totals[i]);
      const double error = result.measure.scale * design.budget;
      points.push_back({error, std::move(design)});
    }
    result.found = std::move(points);
  } else if (question.cost) {
    const double least =  // what the floor takes
        result.task.floor.size() > 0
            ? weighted_trace(result.measure.weights, Diagonal{result.task.floor})
            : 0.0;
    result.found = design_for_risk(design_for, *question.cost, least);
  } else {
    result.found = design_for(result.task.budget.total);
  }
  return result;
}

DesignAnswer answer_by_problem(const DesignQuestion& question, Observer& observer) {
  Iteration iteration = read_iteration(question);
  IterationAnswer rounds = iterate(iteration, question, observer);
  return {question,
          question.problem,
          fmt::format("gradient differences of one pair, {},", rounds.kind),
          false,
          std::move(iteration.measure),
          std::move(iteration.task),
          std::move(rounds)};
}

}  // namespace

Index DesignAnswer::dimension() const { return sfumato::dimension(measure.weights); }

DesignAnswer answer(const DesignQuestion& question, Observer& observer) {
  DesignAnswer result = question.problem.empty() ? answer_by_differences(question, observer)
                                                 : answer_by_problem(question, observer);
  result.stopped = observer.stop_requested();
  return result;
}

std::optional<CovarianceFile> covariance_of(const DesignAnswer& answer) {
  std::map<std::string, std::string> provenance = {
      {"command", "sfumato design"},
      {"version", std::string(kVersion)},
      {"differences_are", std::string(name(answer.question.differences_are))}};
  const auto budget = [&](double total) {
    return fmt::format("{} = {}", answer.measure.name, answer.measure.scale * total);
  };
  if (const auto* design = std::get_if<Design>(&answer.found)) {
    provenance["differences"] = answer.source;
    provenance["objective"] = answer.minimax ? "minimax" : "average";
    provenance["budget"] = budget(design->budget);
    provenance["cost"] = fmt::format("{}", design->value);
    provenance["gap"] = fmt::format("{}", design->gap);
    return CovarianceFile{design->covariance, std::move(provenance)};
  }
  if (const auto* rounds = std::get_if<IterationAnswer>(&answer.found)) {
    const DesignRound& best = rounds->design.result();
    provenance["problem"] = answer.source;
    provenance["objective"] = fmt::format("KL(D||D') at t = {}", rounds->time);
    provenance["budget"] = budget(answer.task.budget.total);
    provenance["kl"] = fmt::format("{}", best.kl.value.value());
    provenance["claim"] = std::string(name(best.kl.claim));
    return CovarianceFile{best.noise, std::move(provenance)};
  }
  return std::nullopt;
}

}  // namespace sfumato
