#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "list_option.hpp"
#include "progress.hpp"
#include "question_options.hpp"
#include "sfumato/answers/quadratic/document.hpp"
#include "sfumato/answers/quadratic/problem.hpp"
#include "sfumato/core/located.hpp"

namespace sfumato::cli {
namespace {

struct Options {
  std::string file;
  Overrides overrides;
  bool json = false;
};

ExitCode quadratic(const Options& options) {
  ExitCode code = kFine;
  require_overrides(options.overrides);
  const QuadraticProblem problem = read_quadratic_problem(options.file, options.overrides);
  TerminalObserver observer;
  const Document document = quadratic_document(problem, observer);
  observer.finish();
  print(document, options.json);
  if (observer.stop_requested()) code = kInterrupted;
  return code;
}

}  // namespace

void add_quadratic(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "quadratic", "Exact risk and accuracy of training on a quadratic loss given by matrices");
  const auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "Problem file (TOML)")->required();
  add_question_options(*command, options->overrides);
  add_numbers_option(*command, "--steps", options->overrides.steps,
                     "Steps instead of the file's; inf = stationary");
  add_json_flag(*command, options->json);
  command->footer(R"(Keys of the file (docs/quadratic.md has all the details):
  title                   of the output
  [flow]     times        list of times >= 0; inf is the stationary law
  [chain]    learning_rate  instead of [flow]: x <- x - learning_rate grad f(x) + N(0, S)
             steps        list of whole numbers >= 0; inf is the stationary law
  [release]  S            instead of [flow]: x* + N(0, S) is given out once
  [risk]     epsilons     default [1]
             delta        or deltas; default 1e-5
             renyi_orders default [2]
             false_positive_rates  default [0.01, 0.001]
  [d]        A            curvature (number, diagonal, matrix), or
             B            f(x) = 1/2 |B x - y|^2, A = B^T B
             minimiser    x*, or pull (= A x*), or y with B
             Sigma        diffusion covariance (number, diagonal, matrix)
             S            of a chain, instead of Sigma: covariance of one step,
                          learning_rate Sigma
             start_mean   default 0
             start_covariance  default 0: a point
  [d_prime]  any key of [d]; the others are shared with [d]
             without_row  k: D' is D without row k of B and y
Vectors and matrices are lists, or paths of CSV or NPY files next to the problem
file; covariances may be NPZ files too.

Example:
  sfumato quadratic examples/quadratic/shift.toml --times 0.5,1,inf --json
  sfumato quadratic examples/quadratic/chain.toml --steps 10,100)");
  commands.push_back({command, [options] {
                        return located(Where::in(options->file),
                                       [&] { return quadratic(*options); });
                      }});
}

}  // namespace sfumato::cli
