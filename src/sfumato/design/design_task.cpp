#include "sfumato/design/design_task.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sfumato/core/located.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/data/array_file.hpp"
#include "sfumato/data/covariance_file.hpp"

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

}  // namespace sfumato
