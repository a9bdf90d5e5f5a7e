#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "command.hpp"
#include "list_option.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/answers/rows/check.hpp"
#include "sfumato/answers/rows/input.hpp"
#include "sfumato/answers/rows/options.hpp"
#include "sfumato/answers/rows/output.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/privacy/classification_rows.hpp"
#include "sfumato/privacy/ridge_rows.hpp"

namespace sfumato::cli {
namespace {

/// What was found out about the rows.
struct Findings {
  std::vector<RowRisk> risks;
  std::vector<Trait> traits;  ///< of a row, shown beside its risk
  std::vector<std::string> notes;
  std::vector<CheckedRow> checks;
};

Findings ridge_findings(const RowsQuestion& question, const RegressionInput& input,
                        Observer& observer) {
  const RidgeProblem problem(input.features, input.target, question.ridge);
  return {row_risks(problem, question.risk, observer), ridge_traits(), {}, {}};
}

Findings logistic_findings(const RowsQuestion& question, const ClassificationFit& fit,
                           const RowsOptions& options, Observer& observer) {
  ClassificationRows bounds = row_bounds(fit, question.risk, observer);
  Findings findings{std::move(bounds.rows), logistic_traits(fit), std::move(bounds.notes), {}};
  const RowCheckOptions check{options.seed, 1024, 4e9, question.risk.threads};
  findings.checks = check_riskiest(fit, question.risk, findings.risks,
                                   static_cast<std::size_t>(checks_of(options)), check, observer);
  return findings;
}

/// Where an interrupted run writes, "risks.partial.csv" for "risks.csv": what a whole run wrote stays. A
/// pipe or device has nothing to lose.
std::string partial_path(const std::string& out) {
  std::error_code ignored;
  const std::filesystem::path path(out);
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return out;
  }
  const std::string name = path.stem().string() + ".partial" + path.extension().string();
  return (path.parent_path() / name).string();
}

ExitCode rows(const RowsOptions& options) {
  ExitCode code = kFine;
  require_sense(options);
  const CsvOptions csv = csv_of(options);
  if (!options.out.empty()) prepare_output(options.out, options.force);

  RegressionColumns columns = options.columns;
  columns.intercept = !options.no_intercept;
  columns.classes = model_of(options) == RowsModel::logistic ? 2 : 0;
  const RegressionInput input = read_regression(options.file, columns, csv, options.with_file);
  const bool by_self = columns.standardise == "self";
  const RowsQuestion question{model_of(options),
                              ridge_of(options),
                              risk_of(options, input),
                              by_self,
                              by_self ? "" : columns.standardise,
                              options.with_file,
                              static_cast<std::size_t>(options.top)};
  // Until the model is fitted there is nothing to keep, and a signal ends the program at once.
  std::optional<ClassificationFit> fit;
  if (question.model == RowsModel::logistic) {
    fit.emplace(ClassificationProblem::logistic(input.features, input.target, question.ridge));
  }
  TerminalObserver observer;
  const Findings findings = fit ? logistic_findings(question, *fit, options, observer)
                                : ridge_findings(question, input, observer);
  observer.finish();

  Document document = new_document("rows", "Risk of every row of " + options.file);
  add_row_risks(document, question, input, findings.risks, findings.traits);
  for (const std::string& note : findings.notes) document.state(StatementKind::info, note);
  if (!findings.checks.empty()) {
    document.add_provenance("seed", fmt::format("{}", options.seed));
    if (!add_checks(document, findings.checks)) code = kViolated;
  }
  for (const auto& [topic, message] : observer.records()) {
    document.state(StatementKind::info, fmt::format("{}: {}", topic, message));
  }
  add_caveats(document, question, input);
  if (!options.out.empty()) {
    const bool whole = !observer.stop_requested();
    const std::string path = whole ? options.out : partial_path(options.out);
    write_row_risks(path, question, input, findings.risks, findings.traits);
    document.state(StatementKind::summary,
                   whole ? fmt::format("All {} rows are in {}.", findings.risks.size(), path)
                         : fmt::format("The rows that were computed are in {}; {} is as it was.",
                                       path, options.out));
  }
  print(document, options.json);
  if (observer.stop_requested()) code = kInterrupted;
  return code;
}

/// Declares the options, their help and what they exclude.
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

}  // namespace

void add_rows(CLI::App& app, Commands& commands) {
  auto* command =
      app.add_subcommand("rows", "Ridge or logistic regression on a table: the risk of every row");
  const auto options = std::make_shared<RowsOptions>();
  declare_options(*command, *options);
  add_output_flags(*command, options->force);
  add_json_flag(*command, options->json);
  command->footer(
      "Example:\n"
      "  sfumato rows examples/rows/diabetes.csv --target progression --adjacency remove \\\n"
      "      --loss sum --ridge 1 --noise 1000 --standardise examples/rows/public.csv\n"
      "Noise is a covariance per unit of time, in the flow dX = -grad f dt + noise^(1/2) dW and\n"
      "in a step x <- x - rate grad f + N(0, rate noise) alike (docs/rows.md).");
  commands.push_back({command, [options] {
                        return located(Where::in(options->file), [&] { return rows(*options); });
                      }});
}

}  // namespace sfumato::cli
