#include "sfumato/rows/rows_setup.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/text.hpp"

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
  const GaussianLaw start = point_law(Eigen::VectorXd::Zero(dimension));
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

}  // namespace sfumato
