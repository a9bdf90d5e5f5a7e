#include "sfumato/answers/quadratic/problem.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/answers/problem/quadratic_loss.hpp"
#include "sfumato/answers/problem/side.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Refuses keys of a side that belong to another kind of output.
void require_known(const Side& side, const Output& output) {
  const bool release = std::holds_alternative<Release>(output);
  const bool chain = std::holds_alternative<Chain>(output);
  std::vector<std::string> known = quadratic_keys(side);
  for (const char* key : {"Sigma", "start_mean", "start_covariance"}) {
    known.emplace_back(key);
    if (!release || !side.own().has(key)) continue;
    throw InvalidArgument(
        fmt::format("`{}.{}` belongs to a flow or chain, but this file describes a release",
                    side.name(), key),
        "Remove it (the noise of a release is `release.S`), or replace [release] by [flow]",
        side.own().where(key));
  }
  if (chain) known.emplace_back("S");
  if (!chain && side.own().has("S")) {
    throw InvalidArgument(
        fmt::format("`{}.S` is the noise of one step of a chain, but this file describes a {}",
                    side.name(), release ? "release" : "flow"),
        release ? "Move it to [release]" : "Give `Sigma`, or replace [flow] by [chain]",
        side.own().where("S"));
  }
  side.own().reject_unknown(known);
}

/// Sigma of a flow.
Covariance flow_noise(const Side& side, Eigen::Index dimension) {
  return side.require({"Sigma"}, "the diffusion covariance").covariance(dimension);
}

/// S of one step: given as such, or as the Sigma of the flow that the chain follows.
Covariance step_noise(const Side& side, const Chain& chain, Eigen::Index dimension) {
  const Source source = side.require({"Sigma", "S"}, "the noise of a step");
  const auto behind = side.find_behind({"Sigma", "S"});
  if (behind && behind->key != source.key) {
    throw InvalidArgument(fmt::format("`{}` is per step, but the other noise, `{}`, is not",
                                      source.key == "S" ? source.label : behind->label,
                                      source.key == "S" ? behind->label : source.label),
                          "Give Sigma for both (S = learning_rate Sigma), or S for both",
                          source.where());
  }
  const Covariance given = source.covariance(dimension);
  return source.key == "S" ? given : scaled(given, chain.learning_rate);
}

Flow read_flow(const TomlTable& flow, const Overrides& overrides) {
  flow.reject_unknown({"times"});
  if (!overrides.steps.empty()) {
    throw InvalidArgument("a flow has times, not steps", "Use --times, or a file with [chain]",
                          flow.where(""));
  }
  if (!overrides.times.empty()) return {without_repeats(overrides.times)};
  return {checked_numbers(flow, "times", "flow.times", not_a_time)};
}

Chain read_chain(const TomlTable& chain, const Overrides& overrides) {
  if (chain.has("times")) {
    throw InvalidArgument("a chain has `steps`, not `times`",
                          "Count the steps (time / learning_rate), or replace [chain] by [flow]",
                          chain.where("times"));
  }
  chain.reject_unknown({"learning_rate", "steps"});
  if (!overrides.times.empty()) {
    throw InvalidArgument("a chain has steps, not times", "Use --steps, or a file with [flow]",
                          chain.where(""));
  }
  const double rate = chain.number("learning_rate");
  if (!(rate > 0.0 && std::isfinite(rate))) {
    throw InvalidArgument(
        fmt::format("`chain.learning_rate` = {} is not a finite number > 0", rate),
        "Give the factor of the gradient in one step", chain.where("learning_rate"));
  }
  if (!overrides.steps.empty()) return {rate, without_repeats(overrides.steps)};
  return {rate, checked_numbers(chain, "steps", "chain.steps", not_a_step_count)};
}

Release read_release(const TomlTable& release, const Overrides& overrides) {
  release.reject_unknown({"S"});
  if (!overrides.times.empty() || !overrides.steps.empty()) {
    const bool times = !overrides.times.empty();
    throw InvalidArgument(fmt::format("a release has no {}", times ? "times" : "steps"),
                          times ? "Leave out --times" : "Leave out --steps", release.where(""));
  }
  return {};
}

Output read_output(const TomlTable& root, const Overrides& overrides) {
  std::vector<std::string> given;
  for (const char* key : {"flow", "chain", "release"}) {
    if (root.has(key)) given.emplace_back(key);
  }
  if (given.size() != 1) {
    throw InvalidArgument(
        given.empty() ? "none of [flow], [chain] and [release] is given"
                      : fmt::format("[{}] are {} given", fmt::join(given, "] and ["),
                                    given.size() == 2 ? "both" : "all"),
        "Give [flow] with `times`, [chain] with `learning_rate` and `steps`, or [release] with `S`",
        root.where(given.empty() ? "" : given.back()));
  }
  const TomlTable table = root.table(given.front());
  if (given.front() == "flow") return read_flow(table, overrides);
  if (given.front() == "chain") return read_chain(table, overrides);
  return read_release(table, overrides);
}

}  // namespace

QuadraticProblem read_quadratic_problem(const std::string& path, const Overrides& overrides) {
  const TomlTable root = TomlTable::read(path);
  root.reject_unknown({"title", "flow", "chain", "release", "risk", "d", "d_prime"});
  QuadraticProblem problem;
  problem.source = path;
  problem.title = root.has("title") ? root.string("title") : "Quadratic problem " + path;
  problem.output = read_output(root, overrides);
  problem.questions = read_questions(root, overrides);

  const Side d(root, "d", std::nullopt);
  const Side d_prime(root, "d_prime", "d");
  require_known(d, problem.output);
  require_known(d_prime, problem.output);
  problem.d.loss = read_quadratic_loss(d);
  problem.d_prime.loss = read_quadratic_loss(d_prime);
  problem.way_of_change = way_of_change(d_prime);
  const Eigen::Index dimension = problem.dimension();
  if (problem.d_prime.loss.pull.size() != dimension) {
    throw InvalidArgument(fmt::format("[d_prime] has {} parameters, [d] has {}",
                                      problem.d_prime.loss.pull.size(), dimension),
                          "Both models must have the same parameters", root.where("d_prime"));
  }
  if (problem.is_release()) {
    problem.d.noise = root.table("release").covariance("S", dimension);
    problem.d_prime.noise = problem.d.noise;
    return problem;
  }
  const auto noise_of = [&](const Side& side) {
    return problem.chain() ? step_noise(side, *problem.chain(), dimension)
                           : flow_noise(side, dimension);
  };
  problem.d.noise = noise_of(d);
  problem.d_prime.noise = noise_of(d_prime);
  problem.d.start = start_of(d, dimension);
  problem.d_prime.start = start_of(d_prime, dimension);
  problem.defaults = start_defaults(d);
  return problem;
}

}  // namespace sfumato
