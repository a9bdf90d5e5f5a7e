#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "progress.hpp"
#include "question_options.hpp"
#include "sfumato/answers/bound/document.hpp"
#include "sfumato/answers/bound/evaluate.hpp"
#include "sfumato/answers/bound/problem.hpp"
#include "sfumato/core/located.hpp"

namespace sfumato::cli {
namespace {

struct Options {
  std::string file;
  BoundOverrides overrides;
  bool json = false;
};

ExitCode bound(const Options& options) {
  ExitCode code = kFine;
  require_overrides(options.overrides.common);
  const BoundProblem problem = read_bound_problem(options.file, options.overrides);
  TerminalObserver observer;
  const std::vector<BoundsAtTime> results = evaluate_bounds(problem, observer);
  observer.finish();
  print(bound_document(problem, results, observer.stop_requested()), options.json);
  // Bounds of a file whose assumption is refuted bound nothing.
  if (!problem.assumed.empty() && std::any_of(results.begin(), results.end(), grid_is_above)) {
    code = kViolated;
  }
  if (observer.stop_requested()) code = kInterrupted;
  return code;
}

}  // namespace

void add_bound(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand(
      "bound", "Relative-entropy bounds between two SDEs, beside exact, grid and simulated values");
  const auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "Problem file (TOML)")->required();
  add_question_options(*command, options->overrides.common);
  command->add_option("--seed", options->overrides.seed, "Seed of the simulation (default 1)")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  command->add_option("--paths", options->overrides.paths, "Paths to simulate (default 20000)")
      ->check(CLI::Range(2, 1000000000));
  add_json_flag(*command, options->json);
  command->footer(R"(Keys of the file (docs/bound.md has all the details):
  title                      of the output
  [flow]      times          list of times >= 0; inf is the stationary law
  [risk]      epsilons       default [1]
              delta          default 1e-5
  [estimate]  seed, paths, step   of the simulation; monte_carlo = false: none
              cells, domain       of the grid; fokker_planck = false: none
  [assume]    sensitivity    |Sigma^(-1/2) (b - b')| <= this for all x, if you have a proof
              contraction, contraction_prime    of the drifts of D, D', likewise
  [d]         one of
              drift          formulas, one per coordinate: "x - x^3"
              potential      a formula f; the drift is -grad f
              A or B, ...    a quadratic loss, as in `sfumato quadratic`
              mixture        { weights, means, covariances, ridge }
              model          "ridge", "logistic" or "softmax", with data, target, loss, ridge
              and
              Sigma          numbers, or Sigma_formula, or minibatch = { batch, learning_rate }
              start_mean, start_covariance
  [d_prime]   any key of [d]; the others are shared with [d]
              without_row    k: D' is D without row k; with = FILE puts a record in its place

Example:
  sfumato bound examples/bound/double_well.toml --times 1,10)");
  commands.push_back({command, [options] {
                        return located(Where::in(options->file), [&] { return bound(*options); });
                      }});
}

}  // namespace sfumato::cli
