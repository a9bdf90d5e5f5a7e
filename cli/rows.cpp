#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "command.hpp"
#include "number_check.hpp"
#include "progress.hpp"
#include "rows/input.hpp"
#include "rows/output.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato::cli {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Options {
  std::string file;
  RegressionColumns columns;
  std::string adjacency;
  std::string with_file;
  std::string loss;
  double ridge = 0.0;
  std::string ridge_scale = "fixed";
  std::string noise;
  bool release = false;
  double time = kInf;
  std::vector<double> epsilons{1.0};
  double delta = 1e-5;
  int top = 10;
  std::string out;
  std::string separator = ",";
  std::string decimal = ".";
  bool no_intercept = false;
  bool drop_missing = false;
  int threads = 0;
  bool json = false;
};

/// A number is an isotropic variance, anything else the name of a covariance file.
Covariance noise_of(const std::string& text, Eigen::Index dimension) {
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
  return read_covariance(text, dimension).covariance;
}

char separator_of(const std::string& text, const std::string& decimal) {
  if (text == "\\t" || text == "tab") return '\t';
  const bool possible = text.size() == 1 &&
                        std::ispunct(static_cast<unsigned char>(text[0])) != 0 &&
                        std::string_view("\"+-.").find(text[0]) == std::string_view::npos;
  if (possible && text != decimal) return text[0];
  throw CLI::ValidationError(
      "--separator", fmt::format("\"{}\" is not a mark such as , ; | or tab that differs from the "
                                 "decimal mark \"{}\"",
                                 text, decimal));
}

CsvOptions csv_of(const Options& options) {
  CsvOptions csv;
  csv.format = {separator_of(options.separator, options.decimal), options.decimal[0]};
  csv.missing = options.drop_missing ? MissingPolicy::drop_row : MissingPolicy::reject;
  return csv;
}

RowRiskOptions risk_options(const Options& options, const RegressionInput& input) {
  const Eigen::Index dimension = input.features.cols();
  const Covariance noise = noise_of(options.noise, dimension);
  RowRiskOptions risk{
      options.release
          ? Release{MinimiserRelease{noise}}
          : Release{FlowRelease{options.time, noise, point_law(Eigen::VectorXd::Zero(dimension))}},
      input.replacement,
      {},
      Delta{options.delta},
      static_cast<unsigned>(options.threads)};
  for (const double epsilon : without_repeats(options.epsilons))
    risk.epsilons.emplace_back(epsilon);
  return risk;
}

void rows(const Options& options, int& exit_code) {
  const Adjacency adjacency = parse_adjacency(options.adjacency);
  require_option("--time", options.time, not_a_time);
  require_option("--epsilons", options.epsilons, not_an_epsilon);
  require_option("--delta", options.delta, not_a_delta);
  require_option("--ridge", options.ridge, not_a_strength);
  if (options.loss == "mean" && options.ridge_scale == "rows") {
    throw CLI::ValidationError("--ridge-scale", "with --loss mean the ridge is per row as it is");
  }
  if ((adjacency == Adjacency::replace) == options.with_file.empty()) {
    throw CLI::ValidationError("--with",
                               adjacency == Adjacency::replace
                                   ? "--adjacency replace needs the other record: --with FILE"
                                   : "--with goes with --adjacency replace");
  }
  for (const std::string& input :
       {options.file, options.with_file, options.columns.standardise, options.noise}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(options.out, input, ignored)) {
      throw CLI::ValidationError("--out",
                                 fmt::format("{} is an input, it would be overwritten", input));
    }
  }
  // Found out before the work, not after it.
  if (!options.out.empty()) OutputFile probe(options.out);

  RegressionColumns columns = options.columns;
  columns.intercept = !options.no_intercept;
  const RegressionInput input =
      read_regression(options.file, columns, csv_of(options), options.with_file);
  const bool by_self = columns.standardise == "self";
  const RowsQuestion question{
      options.file,
      {options.loss == "sum" ? LossScale::sum : LossScale::mean, options.ridge,
       options.ridge_scale == "rows" ? RidgeScale::times_rows : RidgeScale::fixed},
      risk_options(options, input),
      by_self,
      by_self ? "" : columns.standardise,
      options.with_file,
      static_cast<std::size_t>(options.top)};
  const RidgeProblem problem(input.features, input.target, question.ridge);
  TerminalObserver observer;
  const std::vector<RowRisk> risks = row_risks(problem, question.risk, observer);
  observer.finish();

  Document document = new_document("rows", "Risk of every row of " + options.file);
  add_row_risks(document, question, input, risks);
  for (const auto& [topic, message] : observer.records()) {
    document.state(StatementKind::info, fmt::format("{}: {}", topic, message));
  }
  if (!options.out.empty()) {
    write_row_risks(options.out, question, input, risks);
    document.state(
        StatementKind::summary,
        fmt::format("{} of {} rows are in {}.", observer.stop_requested() ? "The computed" : "All",
                    risks.size(), options.out));
  }
  print(document, options.json);
  if (observer.stop_requested()) exit_code = kInterrupted;
}

}  // namespace

void add_rows(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("rows", "Ridge regression on a table: the exact risk of every row");
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  command->add_option("file", o.file, "Table (CSV with a header row)")->required();
  command->add_option("--target", o.columns.target, "Column to predict")->required();
  command->add_option("--adjacency", o.adjacency, "How D' differs from D: remove or replace")
      ->required()
      ->check(CLI::IsMember({"remove", "replace"}));
  command->add_option("--with", o.with_file, "With replace: CSV with the one other record");
  command->add_option("--loss", o.loss, "Squared errors are put together by sum or mean")
      ->required()
      ->check(CLI::IsMember({"sum", "mean"}));
  command
      ->add_option("--noise", o.noise,
                   "Noise covariance: a number (isotropic variance) or a file (NPZ, NPY, CSV)")
      ->required();
  command->add_flag("--release", o.release,
                    "Release the minimiser plus N(0, noise) instead of running a flow");
  command->add_option("--time", o.time, "Flow time, from a start at 0 (default inf: stationary)")
      ->excludes("--release");
  command->add_option("--ridge", o.ridge, "Ridge strength (default 0)");
  command->add_option("--ridge-scale", o.ridge_scale, "fixed (default), or rows: times N")
      ->check(CLI::IsMember({"fixed", "rows"}));
  command->add_option("--features", o.columns.features, "Columns to use (default: all others)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--no-intercept", o.no_intercept, "Do not add a column of ones");
  command->add_option("--standardise,--standardize", o.columns.standardise,
                      "CSV with a row of public centres and a row of scales; or self");
  command->add_option("--epsilons,--epsilon", o.epsilons, "Give delta at these (default 1)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--delta,--target-delta", o.delta, "Give epsilon at this (default 1e-5)");
  command->add_option("--top", o.top, "Rows to print (default 10)")
      ->check(CLI::Range(0, 1000000000));
  command->add_option("--out", o.out, "Write the risk of all rows to this CSV");
  command->add_option("--separator", o.separator, "Between fields (default ,)");
  command->add_option("--decimal", o.decimal, "Decimal mark (default .)")
      ->check(CLI::IsMember({".", ","}));
  command->add_flag("--drop-missing", o.drop_missing, "Leave out rows with missing values");
  command->add_option("--threads", o.threads, "Default: all cores; results do not depend on it")
      ->check(CLI::Range(0, 1024));
  add_json_flag(*command, o.json);
  command->footer(
      "Example:\n"
      "  sfumato rows examples/rows/diabetes.csv --target progression --adjacency remove \\\n"
      "      --loss sum --ridge 1 --noise 1000 --standardise examples/rows/public.csv\n"
      "Noise is the diffusion covariance: dX = -grad f dt + noise^(1/2) dW (docs/rows.md).");
  command->callback([options, &exit_code] { rows(*options, exit_code); });
}

}  // namespace sfumato::cli
