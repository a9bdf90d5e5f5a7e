#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "command.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "rows/check.hpp"
#include "rows/input.hpp"
#include "rows/options.hpp"
#include "rows/output.hpp"
#include "sfumato/core/located.hpp"
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

void rows(const RowsOptions& options, int& exit_code) {
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
    if (!add_checks(document, findings.checks)) exit_code = kViolated;
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
  if (observer.stop_requested()) exit_code = kInterrupted;
}

}  // namespace

void add_rows(CLI::App& app, int& exit_code) {
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
  command->callback([options, &exit_code] {
    located(Where::in(options->file), [&] { rows(*options, exit_code); });
  });
}

}  // namespace sfumato::cli
