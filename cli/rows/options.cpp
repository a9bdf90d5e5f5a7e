#include "rows/options.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "list_option.hpp"
#include "number_check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/covariance_file.hpp"

namespace sfumato::cli {
namespace {

const char* not_a_number_of_steps(double value) {
  return value >= 0.0 && (std::isinf(value) || value == std::floor(value))
             ? nullptr
             : "is not a number of steps: 0, 1, 2, ... or inf";
}

/// A number is an isotropic variance, anything else the name of a covariance file.
/// `definite` refuses a singular one.
Covariance noise_of(const std::string& text, Eigen::Index dimension, bool definite) {
  double variance = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), variance);
  if (error == std::errc() && end == text.data() + text.size()) {
    require_option("--noise", variance, not_a_variance);
    return Isotropic{variance, dimension};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored)) {
    throw InvalidArgument(fmt::format("{} is neither a number nor a file that exists", text),
                          "Give a variance, or a covariance file (NPZ, NPY, CSV)",
                          Where::in("--noise"));
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
  throw CLI::ValidationError(
      "--separator", fmt::format("\"{}\" is not a mark such as , ; | or tab that differs from the "
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

void declare_options(CLI::App& command, RowsOptions& o) {
  command.add_option("file", o.file, "Table (CSV with a header row)")->required();
  command.add_option("--target", o.columns.target, "Column to predict")->required();
  command
      .add_option("--model", o.model,
                  "ridge (default): exact risks; logistic: bounds, the target being 0 or 1")
      ->check(CLI::IsMember({"ridge", "logistic"}));
  command.add_option("--adjacency", o.adjacency, "How D' differs from D: remove or replace")
      ->required()
      ->check(CLI::IsMember({"remove", "replace"}));
  command.add_option("--with", o.with_file, "With replace: CSV with the one other record");
  command.add_option("--loss", o.loss, "Losses of the rows are put together by sum or mean")
      ->required()
      ->check(CLI::IsMember({"sum", "mean"}));
  command
      .add_option("--noise", o.noise,
                  "Noise covariance: a number (isotropic variance) or a file (NPZ, NPY, CSV)")
      ->required();
  auto* release = command.add_flag(
      "--release", o.release, "Release the minimiser plus N(0, noise) instead of running a flow");
  auto* time =
      command
          .add_option("--time", o.time, "Flow time, from a start at 0 (default inf: stationary)")
          ->excludes(release);
  auto* rate = command
                   .add_option("--learning-rate", o.learning_rate,
                               "Noisy gradient descent instead of the flow: its step")
                   ->excludes(release)
                   ->excludes(time);
  auto* steps =
      command.add_option("--steps", o.steps, "With --learning-rate: how many, from 0 (or inf)")
          ->needs(rate);
  rate->needs(steps);
  command.add_option("--ridge", o.ridge, "Ridge strength (default 0)");
  command.add_option("--ridge-scale", o.ridge_scale, "fixed (default), or rows: times N")
      ->check(CLI::IsMember({"fixed", "rows"}));
  add_words_option(command, "--features", o.columns.features,
                   "Columns to use (default: all others)");
  command.add_flag("--no-intercept", o.no_intercept, "Do not add a column of ones");
  command.add_option("--standardise,--standardize", o.columns.standardise,
                     "CSV with a row of public centres and a row of scales; or self");
  add_numbers_option(command, "--epsilons,--epsilon", o.epsilons,
                     "Give delta at these (default 1)");
  command.add_option("--delta,--target-delta", o.delta, "Give epsilon at this (default 1e-5)");
  command
      .add_option("--check", o.check,
                  "Logistic: compare so many of the riskiest rows with simulated paths (default 3)")
      ->check(CLI::Range(0, 1000));
  command.add_option("--seed", o.seed, "Of the simulated paths (default 1)")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  command.add_option("--top", o.top, "Rows to print (default 10)")
      ->check(CLI::Range(0, 1000000000));
  command.add_option("--out", o.out, "Write the risk of all rows to this CSV");
  command.add_option("--separator", o.separator, "Between fields (default ,)");
  command.add_option("--decimal", o.decimal, "Decimal mark (default .)")
      ->check(CLI::IsMember({".", ","}));
  command.add_flag("--drop-missing", o.drop_missing, "Leave out rows with missing values");
  command.add_option("--threads", o.threads, "Default: all cores; results do not depend on it")
      ->check(CLI::Range(0, 1024));
}

void require_sense(const RowsOptions& options) {
  require_option("--time", options.time, not_a_time);
  if (options.learning_rate) {
    require_option("--learning-rate", *options.learning_rate, not_a_learning_rate);
  }
  if (options.steps) require_option("--steps", *options.steps, not_a_number_of_steps);
  require_option("--epsilons", options.epsilons, not_an_epsilon);
  require_option("--delta", options.delta, not_a_delta);
  require_option("--ridge", options.ridge, not_a_strength);
  if (options.loss == "mean" && options.ridge_scale == "rows") {
    throw CLI::ValidationError("--ridge-scale", "with --loss mean the ridge is per row as it is");
  }
  if ((options.adjacency == "replace") == options.with_file.empty()) {
    throw CLI::ValidationError("--with",
                               options.adjacency == "replace"
                                   ? "--adjacency replace needs the other record: --with FILE"
                                   : "--with goes with --adjacency replace");
  }
  if (options.check.value_or(0) > 0 && (model_of(options) == RowsModel::ridge || options.release)) {
    throw CLI::ValidationError("--check", options.release
                                              ? "with --release there are no paths to simulate"
                                              : "the risks of --model ridge are exact as they are");
  }
  for (const std::string& input :
       {options.file, options.with_file, options.columns.standardise, options.noise}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(options.out, input, ignored)) {
      throw CLI::ValidationError("--out",
                                 fmt::format("{} is an input, it would be overwritten", input));
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

}  // namespace sfumato::cli
