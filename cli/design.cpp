#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "list_option.hpp"
#include "output_files.hpp"
#include "progress.hpp"
#include "sfumato/answers/design/document.hpp"
#include "sfumato/answers/design/iterate.hpp"
#include "sfumato/answers/design/question.hpp"
#include "sfumato/core/version.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/design/budget_for_risk.hpp"

namespace sfumato::cli {
namespace {

Design answer_of(const DesignQuestion& question, Observer& observer) {
  if (!question.risk) return solve_design(question, question.task.budget.total, observer);
  double least = 0.0;  // what the floor takes
  if (question.task.floor.size() > 0) {
    least = weighted_trace(question.measure.weights, Diagonal{question.task.floor});
  }
  return design_for_risk([&](double total) { return solve_design(question, total, observer); },
                         *question.risk, least);
}

void write_design(const DesignOptions& options, const DesignQuestion& question,
                  const Design& design) {
  write_covariance(options.out, {design.covariance,
                                 {{"command", "sfumato design"},
                                  {"version", std::string(kVersion)},
                                  {"differences", question.hidden.source},
                                  {"differences_are", options.origin},
                                  {"objective", question.minimax ? "minimax" : "average"},
                                  {"budget", fmt::format("{} = {}", question.measure.name,
                                                         question.measure.scale * design.budget)},
                                  {"cost", fmt::format("{}", design.value)},
                                  {"gap", fmt::format("{}", design.gap)}}});
}

void require_output(const DesignOptions& options) {
  if (options.out.empty()) return;
  if (!options.frontier.empty()) {
    refuse_usage("out", "a frontier is many designs: ask for one of them");
  }
  if (!options.out.ends_with(".npz")) {
    refuse_usage("out", "a covariance file ends in .npz");
  }
  prepare_output(options.out, options.force);
}

ExitCode iterate(const DesignOptions& options) {
  ExitCode code = kFine;
  TerminalObserver observer;
  IterationAnswer answer = iterate_on_problem(options, observer);
  observer.finish();
  if (!options.out.empty()) {
    write_covariance(options.out, answer.noise);
    answer.document.state(StatementKind::summary,
                          fmt::format("The covariance is in {}.", options.out));
  }
  if (observer.stop_requested()) code = kInterrupted;
  print(answer.document, options.json);
  return code;
}

ExitCode design(const DesignOptions& options) {
  ExitCode code = kFine;
  require_output(options);
  if (!options.problem.empty()) return iterate(options);
  const DesignQuestion question = read_design_question(options);
  TerminalObserver observer;
  Document document = new_document("design", "Noise for " + question.hidden.source);
  state_origin(document, question.hidden.description, question.hidden.source, question.is_private);
  state_cost(document);
  if (!question.frontier_totals.empty()) {
    std::vector<FrontierPoint> points;
    for (std::size_t i = 0; i < question.frontier_totals.size() && !observer.stop_requested();
         ++i) {
      observer.progress("frontier", i, question.frontier_totals.size());
      const double total = question.frontier_totals[i];
      points.push_back({total, solve_design(question, total, observer)});
    }
    observer.finish();
    add_frontier(document, question, points);
  } else {
    const Design best = answer_of(question, observer);
    observer.finish();
    add_design(document, question, best, options.top);
    if (!options.out.empty()) {
      write_design(options, question, best);
      document.state(StatementKind::summary, fmt::format("The covariance is in {}.", options.out));
    }
  }
  if (observer.stop_requested()) {
    document.state(StatementKind::warning,
                   "stopped on request: the bounds hold, the gap may be large.");
    code = kInterrupted;
  }
  print(document, options.json);
  return code;
}

}  // namespace

void add_design(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "design", "The noise covariance that hides most for an accuracy budget, with a certificate");
  const auto options = std::make_shared<DesignOptions>();
  DesignOptions& o = *options;
  command->add_option("differences", o.differences,
                      "Gradient differences, one per row (CSV without header, NPY)");
  command->add_option("--second-moments", o.second_moments,
                      "Instead: E[s s^T], or its diagonal (CSV, NPY, NPZ)");
  command->add_option("--sensitivities", o.sensitivities,
                      "Instead: the largest |s_i| of each coordinate");
  command->add_option("--problem", o.problem,
                      "Instead: a problem file as of `sfumato bound`; the design is iterated");
  command->add_option("--time", o.time, "With --problem: when to judge (default the file's last)");
  command->add_option("--rounds", o.rounds, "With --problem: at most so many (default 20)")
      ->check(CLI::Range(0, 10000));
  command->add_option("--differences-are", o.origin, "Where they come from: public or private data")
      ->required()
      ->check(CLI::IsMember({"public", "private"}));
  command->add_option("--form", o.form, "Of the covariance (default diagonal)")
      ->check(CLI::IsMember({"isotropic", "grouped", "diagonal", "full", "low-rank"}));
  command->add_option("--groups", o.groups, "With grouped: the group number of each coordinate");
  command
      ->add_option("--objective", o.objective,
                   "minimax (worst difference; default for differences) or average")
      ->check(CLI::IsMember({"minimax", "average"}));
  command->add_option("--trace", o.trace, "Budget: trace of Sigma");
  command->add_option("--excess-loss", o.excess_loss, "Budget: stationary excess loss");
  command->add_option("--distance", o.distance,
                      "Budget: stationary squared distance, with --hessian");
  command->add_option("--hessian", o.hessian, "Hessian of the loss (diagonal or matrix)");
  command->add_option("--budget", o.budget, "Budget: tr(W Sigma), with --weights");
  command->add_option("--weights", o.weights, "W (diagonal or matrix)");
  command->add_option("--risk", o.risk, "Instead of a budget: least error for this cost");
  add_numbers_option(*command, "--frontier", o.frontier,
                     "Instead of a budget: both, for errors LOW,HIGH")
      ->type_name("LOW,HIGH");
  command->add_option("--measure", o.measure, "Of --risk, --frontier and --problem (default trace)")
      ->check(CLI::IsMember({"trace", "excess-loss", "distance", "budget"}));
  command->add_option("--floor", o.floor, "Least variance of each coordinate (default 0)");
  command->add_option("--regularise,--regularize", o.regularisation,
                      "rho: also hide a little of every direction (default 0)");
  command->add_option(
      "--tolerance", o.tolerance,
      "Certified gap to stop at (default 1e-8); with --problem, improvement (1e-6)");
  command->add_option("--top", o.top, "Coordinates or groups to list (default 10)")
      ->check(CLI::Range(0, 1000000));
  command->add_option("--threads", o.threads, "Default: all cores; results do not depend on it")
      ->check(CLI::Range(0, 1024));
  command->add_option("--out", o.out, "Write the covariance to this NPZ file");
  add_output_flags(*command, o.force);
  add_json_flag(*command, o.json);
  command->footer(
      "Example:\n"
      "  sfumato design examples/design/differences.csv --differences-are public \\\n"
      "      --form full --trace 2 --out noise.npz\n"
      "quadratic, rows and bound take the file as their noise (docs/design.md).");
  commands.push_back({command, [options] { return design(*options); }});
}

}  // namespace sfumato::cli
