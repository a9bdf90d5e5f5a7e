#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "help.hpp"
#include "problem_options.hpp"
#include "progress.hpp"
#include "reproduce/printed_bounds.hpp"
#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/bound/bound_keys.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/data/keys/key.hpp"

namespace sfumato::apps {
namespace {

struct BoundOptions : ProblemOptions {
  bool as_printed = false;  ///< show the paper's formulas too
};

ExitCode bound(const BoundOptions& options) {
  const TomlTable table = problem_of(options);
  const BoundAnswer found = located_keys(table, bound_keys(), [&] {
    const BoundQuestion question = read_bound_question(table, options.file);
    TerminalObserver observer;
    return answer(question, observer);
  });
  const auto document = [&](Detail detail) {
    Document shown = document_of(found, detail);
    if (options.as_printed) add_printed_bounds(found, shown);
    return shown;
  };
  show(document, options.output);
  return code_of(found.verdict, found.stopped);
}

}  // namespace

void add_bound(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "bound", "Bound the relative entropy between two SDEs, beside exact and simulated values");
  const auto options = std::make_shared<BoundOptions>();
  declare_problem(*command, bound_keys(), *options,
                  "Examples:\n"
                  "  sfumato bound examples/bound/unequal_noise.toml --times 1,10\n"
                  "  sfumato bound examples/bound/shift.toml --set d.Sigma=0.5 --full\n"
                  "Exit code 1 if the grid refutes an assumption of the file, 2 if no method says "
                  "anything.");
  command->add_flag(
      "--as-printed", options->as_printed,
      "Also evaluate the formulas as the paper prints them, and say whether they hold here");
  show_first(*command, {"times", "sensitivity", "contraction", "contraction-prime", "delta",
                        "paths", "seed"});
  commands.push_back({command, [options] {
                        return located(place_of(*options), [&] { return bound(*options); });
                      }});
}

}  // namespace sfumato::apps
