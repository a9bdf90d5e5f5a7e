#include "sfumato/answers/design/question.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "sfumato/core/located.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/design/average_design.hpp"
#include "sfumato/design/minimax_design.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kFrontierPoints = 21;

[[noreturn]] void contradiction(const char* option, const std::string& problem) {
  throw InvalidArgument(problem, "", Where::key(option));
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

Hidden read_differences(const std::string& path) {
  RowMatrix rows = located(Where::in(path), [&] { return read_row_matrix(path); });
  for (Index k = 0; k < rows.rows(); ++k) {
    if (!rows.view().row(k).isZero(0.0)) continue;
    throw InvalidArgument(fmt::format("row {} is zero: there is nothing to hide", k + 1),
                          "Remove it", Where::in(path));
  }
  const Index count = rows.rows();
  const Index dimension = rows.cols();
  return {std::move(rows), path,
          fmt::format("{} gradient difference{} of {} coordinates", count, count == 1 ? "" : "s",
                      dimension),
          dimension};
}

Hidden read_hidden(const DesignOptions& options) {
  const int given = static_cast<int>(!options.differences.empty()) +
                    static_cast<int>(!options.second_moments.empty()) +
                    static_cast<int>(!options.sensitivities.empty());
  if (given != 1) {
    contradiction("differences", given == 0 ? "nothing to hide: give a file of differences, "
                                              "--second-moments or --sensitivities"
                                            : "differences, --second-moments and --sensitivities "
                                              "say the same thing: give one of them");
  }
  if (!options.differences.empty()) return read_differences(options.differences);
  if (!options.second_moments.empty()) {
    CovarianceFile file = read_covariance(options.second_moments);
    const Index dimension = sfumato::dimension(file.covariance);
    return {std::move(file.covariance), options.second_moments,
            fmt::format("second moments of differences of {} coordinates", dimension), dimension};
  }
  const VectorXd bounds = read_vector(options.sensitivities, "the list of sensitivities", 0);
  return {located(Where::in(options.sensitivities),
                  [&] { return Covariance(second_moments_of_box(bounds)); }),
          options.sensitivities,
          fmt::format("every difference within the sensitivities of {} coordinates", bounds.size()),
          bounds.size()};
}

DesignForm form_of(const std::string& name) {
  const std::map<std::string, DesignForm> forms = {{"isotropic", DesignForm::isotropic},
                                                   {"grouped", DesignForm::grouped},
                                                   {"diagonal", DesignForm::diagonal},
                                                   {"full", DesignForm::full},
                                                   {"low-rank", DesignForm::low_rank}};
  return forms.at(name);  // CLI11 has checked the name
}

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

const char* not_a_budget(double value) {
  return std::isfinite(value) && value > 0.0 ? nullptr : "is not a finite number > 0";
}

std::vector<double> frontier_of(const DesignOptions& options, double scale) {
  if (options.frontier.empty()) return {};
  require_key("frontier", options.frontier, not_a_budget);
  if (options.frontier.size() != 2 || options.frontier[0] >= options.frontier[1]) {
    contradiction("frontier", "give the least and the largest error: LOW,HIGH");
  }
  std::vector<double> totals;
  for (int i = 0; i < kFrontierPoints; ++i) {
    const double share = static_cast<double>(i) / (kFrontierPoints - 1);
    const double error =
        std::pow(options.frontier[0], 1.0 - share) * std::pow(options.frontier[1], share);
    totals.push_back(error / scale);
  }
  return totals;
}

Design solve(const DesignQuestion& question, const DesignTask& task, Observer& observer) {
  if (const auto* matrix = std::get_if<RowMatrix>(&question.hidden.what)) {
    const Differences rows = matrix->view();
    if (question.minimax) return minimax_design(rows, task, question.solver, observer);
    const bool full = task.form == DesignForm::full || task.form == DesignForm::low_rank;
    return average_design(full ? second_moment_matrix(rows) : Covariance(second_moments(rows)),
                          task);
  }
  return average_design(std::get<Covariance>(question.hidden.what), task);
}

}  // namespace

Amount amount_of(const DesignOptions& options) {
  std::vector<Amount> given;
  for (const auto& [name, value] :
       {std::pair("trace", options.trace), std::pair("excess-loss", options.excess_loss),
        std::pair("distance", options.distance), std::pair("budget", options.budget)}) {
    if (!value) continue;
    require_key(name, *value, not_a_budget);
    given.push_back({name, value});
  }
  const bool open = options.risk.has_value() || !options.frontier.empty();
  if (!options.problem.empty() && given.empty() && !open) {
    return {options.measure.empty() ? "trace" : options.measure, std::nullopt};
  }
  if (given.size() + static_cast<std::size_t>(open) != 1 ||
      (options.risk && !options.frontier.empty())) {
    contradiction("trace",
                  "give one budget: --trace, --excess-loss, --distance or --budget; or --risk or "
                  "--frontier");
  }
  if (!open) {
    if (!options.measure.empty()) contradiction("measure", "goes with --risk or --frontier");
    return given.front();
  }
  return {options.measure.empty() ? "trace" : options.measure, std::nullopt};
}

ErrorMeasure read_measure(const DesignOptions& options, const std::string& name, Index dimension,
                          const std::optional<Covariance>& own_hessian) {
  const auto no_weights = [&] {
    if (!options.weights.empty()) contradiction("weights", "goes with --budget");
  };
  if (name != "distance" && !options.hessian.empty()) {
    contradiction("hessian", "goes with --distance");
  }
  if (name == "trace") {
    no_weights();
    return {"trace of Sigma", Isotropic{1.0, dimension}, 1.0};
  }
  if (name == "excess-loss") {
    no_weights();
    return {"stationary excess loss, tr(Sigma)/4", Isotropic{1.0, dimension}, 0.25};
  }
  if (name == "distance") {
    no_weights();
    if (options.hessian.empty() && !own_hessian) {
      contradiction("distance", "needs --hessian FILE");
    }
    const Covariance hessian = options.hessian.empty()
                                   ? *own_hessian
                                   : read_covariance(options.hessian, dimension).covariance;
    const Where place = options.hessian.empty() ? Where::here() : Where::in(options.hessian);
    return {"stationary squared distance, tr(A^{-1} Sigma)/2",
            located(place, [&] { return distance_budget(hessian, 1.0).weights; }), 1.0};
  }
  if (options.weights.empty()) contradiction("budget", "needs --weights FILE");
  Covariance weights = read_covariance(options.weights, dimension).covariance;
  if (!is_definite(weights)) {
    throw InvalidArgument(
        "the weights are not positive definite",
        "Give every direction a positive weight, or noise there would cost nothing",
        Where::in(options.weights));
  }
  return {"tr(W Sigma)", std::move(weights), 1.0};
}

DesignTask read_task(const DesignOptions& options, const ErrorMeasure& measure, double total,
                     Index dimension) {
  require_key("floor", options.floor, not_a_strength);
  require_key("regularise", options.regularisation, not_a_strength);
  if (options.tolerance) require_key("tolerance", *options.tolerance, not_a_budget);
  DesignTask task{.budget = {measure.weights, total}, .form = form_of(options.form)};
  if ((task.form == DesignForm::grouped) == options.groups.empty()) {
    contradiction("groups", options.groups.empty() ? "--form grouped needs the group of each "
                                                     "coordinate: --groups FILE"
                                                   : "goes with --form grouped");
  }
  if (!options.groups.empty()) task.groups = read_groups(options.groups, dimension);
  if (options.floor > 0.0) task.floor = VectorXd::Constant(dimension, options.floor);
  task.regularisation = options.regularisation;
  return task;
}

DesignQuestion read_design_question(const DesignOptions& options) {
  const Amount amount = amount_of(options);
  if (options.time) contradiction("time", "goes with --problem");
  if (options.rounds) contradiction("rounds", "goes with --problem");
  if (options.risk) require_key("risk", *options.risk, not_a_budget);
  const bool single = !options.differences.empty();
  if (!single && options.objective == "minimax") {
    contradiction("objective", "minimax needs the differences one by one");
  }
  Hidden hidden = read_hidden(options);
  const Index dimension = hidden.dimension;
  ErrorMeasure measure = read_measure(options, amount.name, dimension);
  DesignTask task =
      read_task(options, measure, amount.value ? *amount.value / measure.scale : 1.0, dimension);
  const double scale = measure.scale;
  SolverOptions solver;
  if (options.tolerance) solver.tolerance = *options.tolerance;
  solver.threads = static_cast<unsigned>(options.threads);
  const bool full = task.form == DesignForm::full || task.form == DesignForm::low_rank;
  solver.compare = full && options.frontier.empty();
  return {std::move(hidden),
          single && options.objective != "average",
          options.origin == "private",
          std::move(measure),
          std::move(task),
          options.risk,
          frontier_of(options, scale),
          solver};
}

Design solve_design(const DesignQuestion& question, double total, Observer& observer) {
  DesignTask task = question.task;
  task.budget.total = total;
  return located(Where::in(question.hidden.source),
                 [&] { return solve(question, task, observer); });
}

}  // namespace sfumato
