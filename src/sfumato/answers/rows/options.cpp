#include "sfumato/answers/rows/options.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/data/covariance_file.hpp"

namespace sfumato {
namespace {

[[noreturn]] void refuse(const char* key, const std::string& problem) {
  throw InvalidArgument(problem, "", Where::key(key));
}

/// A number is an isotropic variance, anything else the name of a covariance file.
/// `definite` refuses a singular one.
Covariance noise_of(const std::string& text, Eigen::Index dimension, bool definite) {
  double variance = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), variance);
  if (error == std::errc() && end == text.data() + text.size()) {
    require_key("noise", variance, not_a_variance);
    return Isotropic{variance, dimension};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored)) {
    throw InvalidArgument("the noise is neither a number nor a file that exists",
                          "Give a variance, or a covariance file (NPZ, NPY, CSV)",
                          Where::in(text));
  }
  Covariance noise = read_covariance(text, dimension).covariance;
  if (definite && !is_definite(noise)) {
    throw InvalidArgument("the noise is singular: along some direction nothing is hidden",
                          "Give noise in every direction, or use --model ridge", Where::in(text));
  }
  return noise;
}

char separator_of(const std::string& text, const std::string& decimal) {
  if (text == "\\t" || text == "\t" || text == "tab") return '\t';
  const bool possible = text.size() == 1 &&
                        std::ispunct(static_cast<unsigned char>(text[0])) != 0 &&
                        std::string_view("\"+-.").find(text[0]) == std::string_view::npos;
  if (possible && text != decimal) return text[0];
  refuse("separator", fmt::format("\"{}\" is not a mark such as , ; | or tab that differs from the "
                                  "decimal mark \"{}\"",
                                  text, decimal));
}

Release release_of(const RowsOptions& options, Eigen::Index dimension) {
  const Covariance noise =
      noise_of(options.noise, dimension, model_of(options) == RowsModel::logistic);
  if (options.release) return MinimiserRelease{noise};
  const GaussianLaw start = point_law(Eigen::VectorXd::Zero(dimension));
  if (options.learning_rate) {
    return ChainRelease{*options.learning_rate, options.steps.value(), noise, start};
  }
  return FlowRelease{options.time, noise, start};
}

}  // namespace

void require_sense(const RowsOptions& options) {
  require_key("time", options.time, not_a_time);
  if (options.learning_rate) {
    require_key("learning_rate", *options.learning_rate, not_a_learning_rate);
  }
  if (options.steps) require_key("steps", *options.steps, not_a_step_count);
  require_key("epsilons", options.epsilons, not_an_epsilon);
  require_key("delta", options.delta, not_a_delta);
  require_key("ridge", options.ridge, not_a_strength);
  if (options.loss == "mean" && options.ridge_scale == "rows") {
    refuse("ridge_scale", "with --loss mean the ridge is per row as it is");
  }
  if ((options.adjacency == "replace") == options.with_file.empty()) {
    refuse("with", options.adjacency == "replace"
                       ? "--adjacency replace needs the other record: --with FILE"
                       : "--with goes with --adjacency replace");
  }
  if (options.check.value_or(0) > 0 && (model_of(options) == RowsModel::ridge || options.release)) {
    refuse("check", options.release ? "with --release there are no paths to simulate"
                                    : "the risks of --model ridge are exact as they are");
  }
  for (const std::string& input :
       {options.file, options.with_file, options.columns.standardise, options.noise}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(options.out, input, ignored)) {
      refuse("out", fmt::format("{} is an input, it would be overwritten", input));
    }
  }
}

RowsModel model_of(const RowsOptions& options) {
  return options.model == "logistic" ? RowsModel::logistic : RowsModel::ridge;
}

RidgeOptions ridge_of(const RowsOptions& options) {
  return {options.loss == "sum" ? LossScale::sum : LossScale::mean, options.ridge,
          options.ridge_scale == "rows" ? RidgeScale::times_rows : RidgeScale::fixed};
}

CsvOptions csv_of(const RowsOptions& options) {
  CsvOptions csv;
  csv.format = {separator_of(options.separator, options.decimal), options.decimal[0]};
  csv.missing = options.drop_missing ? MissingPolicy::drop_row : MissingPolicy::reject;
  return csv;
}

int checks_of(const RowsOptions& options) {
  if (model_of(options) == RowsModel::ridge || options.release) return 0;
  return options.check.value_or(3);
}

RowRiskOptions risk_of(const RowsOptions& options, const RegressionInput& input) {
  RowRiskOptions risk{release_of(options, input.features.cols()),
                      input.replacement,
                      {},
                      Delta{options.delta},
                      static_cast<unsigned>(options.threads)};
  for (const double epsilon : without_repeats(options.epsilons)) {
    risk.epsilons.emplace_back(epsilon);
  }
  return risk;
}

}  // namespace sfumato
