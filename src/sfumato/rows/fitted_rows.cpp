#include "sfumato/rows/fitted_rows.hpp"

#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"
#include "sfumato/rows/ridge_rows.hpp"
#include "sfumato/rows/rows_setup.hpp"

namespace sfumato {
namespace {

/// Laws take O(p^3), and nobody can stop them: a second or so.
constexpr Eigen::Index kMostParameters = 2000;
constexpr Eigen::Index kMostTrained = 500;

std::variant<RidgeProblem, ClassificationFit> fitted(const RowsQuestion& question,
                                                     const RegressionInput& input,
                                                     Observer& observer) {
  const RidgeOptions options = ridge_options(question);
  if (question.model == RowsModel::ridge) {
    return RidgeProblem(input.features, input.target, options, observer);
  }
  return ClassificationFit(ClassificationProblem::logistic(input.features, input.target, options));
}

}  // namespace

FittedRows::FittedRows(const RowsQuestion& question, const RegressionInput& input,
                       Observer& observer)
    : input_(input), model_(fitted(question, input, observer)) {}

std::vector<RowRisk> FittedRows::risks(const RowRiskOptions& options, Observer& observer,
                                       std::vector<std::string>& notes) const {
  return std::visit(
      Overloaded{[&](const RidgeProblem& problem) { return row_risks(problem, options, observer); },
                 [&](const ClassificationFit& fit) {
                   ClassificationRows bounds = row_bounds(fit, options, observer);
                   notes = std::move(bounds.notes);
                   return std::move(bounds.rows);
                 }},
      model_);
}

std::optional<ReleaseCost> FittedRows::cost(const Release& release) const {
  const bool trained = !std::holds_alternative<MinimiserRelease>(release);
  if (input_.features.cols() > (trained ? kMostTrained : kMostParameters)) return std::nullopt;
  try {
    return std::visit(
        Overloaded{[&](const RidgeProblem& problem) -> ReleaseCost {
                     Cost<RegressionQuality> cost =
                         cost_of(released_law(problem, release), input_.features, input_.target);
                     cost.without_noise.rmse *= input_.target_scale;
                     cost.expected.rmse *= input_.target_scale;
                     return cost;
                   },
                   [&](const ClassificationFit& fit) -> ReleaseCost {
                     const GaussianLaw law =
                         released_law(fit.problem(), fit.convexity().minimiser, release);
                     return label_cost_of(law, input_.features, input_.target);
                   }},
        model_);
  } catch (const NumericalFailure&) {
    return std::nullopt;
  }
}

bool FittedRows::has_floor(const Release& release) const {
  return std::holds_alternative<RidgeProblem>(model_) &&
         !std::holds_alternative<MinimiserRelease>(release);
}

Release with_noise_times(Release release, double factor) {
  std::visit([factor](auto& of) { of.noise = scaled(of.noise, factor); }, release);
  return release;
}

Release with_variance(Release release, double variance) {
  std::visit(
      [variance](auto& of) {
        of.noise = Isotropic{variance, dimension(of.noise)};
      },
      release);
  return release;
}

}  // namespace sfumato
