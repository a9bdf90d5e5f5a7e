#include "sfumato/rows/fitted_rows.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"
#include "sfumato/rows/ridge_rows.hpp"

namespace sfumato {
namespace {

char separator_of(const std::string& text, const std::string& decimal) {
  if (text == "\\t" || text == "\t" || text == "tab") return '\t';
  const bool possible = text.size() == 1 &&
                        std::ispunct(static_cast<unsigned char>(text[0])) != 0 &&
                        std::string_view("\"+-.").find(text[0]) == std::string_view::npos;
  if (possible && text != decimal) return text[0];
  throw InvalidArgument(
      fmt::format(
          "\"{}\" is not a mark such as , ; | or tab that differs from the decimal mark \"{}\"",
          text, decimal),
      "", Where::key("separator"));
}

CsvOptions csv_options(const RowsQuestion& question) {
  if (question.decimal != "." && question.decimal != ",") {
    throw InvalidArgument(fmt::format("\"{}\" is neither . nor ,", question.decimal), "",
                          Where::key("decimal"));
  }
  CsvOptions csv;
  csv.adjustable = true;
  csv.format = {separator_of(question.separator, question.decimal), question.decimal[0]};
  return csv;
}

Covariance read_noise(const std::string& file, Eigen::Index dimension, bool definite) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw InvalidArgument("the noise is neither a number nor an existing file",
                          "Give a variance, or a covariance file (NPZ, NPY, CSV)", Where::in(file));
  }
  Covariance noise = read_covariance(file, dimension).covariance;
  if (definite && !is_definite(noise)) {
    throw InvalidArgument("the noise is singular: it hides nothing in some direction",
                          "Give noise in every direction, or use the model ridge", Where::in(file));
  }
  return noise;
}

/// The noise of the question: the last of several; 1 where it is to be found.
Covariance noise_of(const RowsQuestion& question, Eigen::Index dimension) {
  if (!question.noises.empty()) return Isotropic{question.noises.back(), dimension};
  if (const double* variance = std::get_if<double>(&question.noise)) {
    return Isotropic{*variance == 0.0 ? 1.0 : *variance, dimension};
  }
  return read_noise(std::get<std::string>(question.noise), dimension,
                    question.model == RowsModel::logistic);
}

Release release_of(const RowsQuestion& question, Eigen::Index dimension) {
  const Covariance noise = noise_of(question, dimension);
  const std::optional<RowsTraining> training = training_of(question);
  if (!training) return MinimiserRelease{noise};
  const GaussianDistribution start = point_distribution(Eigen::VectorXd::Zero(dimension));
  if (training == RowsTraining::descent) {
    return ChainRelease{*question.learning_rate, question.steps.value(), noise, start};
  }
  return FlowRelease{question.time.value_or(std::numeric_limits<double>::infinity()), noise, start};
}

/// "column=level", split at the first =.
std::vector<std::pair<std::string, std::string>> references_of(const RowsQuestion& question) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : question.references) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
      throw InvalidArgument(fmt::format("{} is not COLUMN=LEVEL", shown(text)),
                            "Write for example workclass=Private", Where::key("reference"));
    }
    pairs.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  return pairs;
}

/// Distributions take O(p^3), and nobody can stop them: a second or so.
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

RegressionInput read_table(const RowsQuestion& question) {
  RegressionColumns columns;
  columns.target = question.target;
  columns.features = question.features;
  columns.id = question.id;
  columns.intercept = question.intercept;
  columns.classes = question.model == RowsModel::logistic ? 2 : 0;
  columns.standardise = question.standardise;
  columns.exclude = question.exclude;
  columns.categorical = question.categorical;
  columns.references = references_of(question);
  columns.positive = question.positive;
  columns.impute = question.impute;
  return read_regression(question.table, columns, csv_options(question), question.replacement,
                         question.in_memory.get());
}

RowRiskOptions risk_options(const RowsQuestion& question, const RegressionInput& input) {
  RowRiskOptions risk{release_of(question, input.features.cols()),
                      input.replacement,
                      {},
                      Delta{question.delta},
                      question.threads};
  for (const double epsilon : without_repeats(question.epsilons)) {
    risk.epsilons.emplace_back(epsilon);
  }
  return risk;
}

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
                     Cost<RegressionQuality> cost = cost_of(released_distribution(problem, release),
                                                            input_.features, input_.target);
                     cost.without_noise.rmse *= input_.target_scale;
                     cost.expected.rmse *= input_.target_scale;
                     return cost;
                   },
                   [&](const ClassificationFit& fit) -> ReleaseCost {
                     const GaussianDistribution distribution =
                         released_distribution(fit.problem(), fit.convexity().minimiser, release);
                     return label_cost_of(distribution, input_.features, input_.target);
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
