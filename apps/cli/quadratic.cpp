#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "help.hpp"
#include "problem_options.hpp"
#include "progress.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/quadratic/quadratic_keys.hpp"

namespace sfumato::apps {
namespace {

ExitCode quadratic(const ProblemOptions& options) {
  const TomlTable table = problem_of(options);
  const QuadraticAnswer found = located_keys(table, quadratic_keys(), [&] {
    const QuadraticQuestion question = read_quadratic_question(table, options.file);
    TerminalObserver observer;
    return answer(question, observer);
  });
  show([&](Detail detail) { return document_of(found, detail); }, options.output);
  return code_of(Verdict::none, found.stopped);
}

}  // namespace

void add_quadratic(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "quadratic", "Compute exact risk and accuracy for a quadratic loss given by matrices");
  const auto options = std::make_shared<ProblemOptions>();
  declare_problem(*command, quadratic_keys(), *options,
                  "Examples:\n"
                  "  sfumato quadratic examples/quadratic/shift.toml --times 0.5,1,inf\n"
                  "  sfumato quadratic examples/quadratic/chain.toml --steps 10,100 --full\n"
                  "  sfumato quadratic --times inf --set d.A=1 --set d.minimiser=0 \\\n"
                  "      --set d.Sigma=2 --set d_prime.minimiser=0.1");
  show_first(*command, {"times", "steps", "learning-rate", "delta", "epsilons"});
  commands.push_back({command, [options] {
                        return located(place_of(*options), [&] { return quadratic(*options); });
                      }});
}

}  // namespace sfumato::apps
