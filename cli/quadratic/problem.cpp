#include "quadratic/problem.hpp"

#include <fmt/format.h>

#include "problem/quadratic_loss.hpp"
#include "problem/side.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::cli {
namespace {

void require_known(const Side& side, bool is_flow) {
  std::vector<std::string> known = quadratic_keys(side);
  for (const char* key : {"Sigma", "start_mean", "start_covariance"}) {
    known.emplace_back(key);
    if (is_flow || !side.own().has(key)) continue;
    throw InvalidArgument(
        fmt::format("`{}.{}` belongs to a flow, but this file describes a release", side.name(),
                    key),
        "Remove it (the noise of a release is `release.S`), or replace [release] by [flow]",
        side.own().where(key));
  }
  side.own().reject_unknown(known);
}

Covariance noise_of(const Side& side, Eigen::Index dimension) {
  return side.require({"Sigma"}, "the diffusion covariance").covariance(dimension);
}

std::variant<Flow, Release> read_output(const TomlTable& root, const Overrides& overrides) {
  if (root.has("flow") == root.has("release")) {
    throw InvalidArgument(root.has("flow") ? "[flow] and [release] are both given"
                                           : "neither [flow] nor [release] is given",
                          "Give [flow] with `times`, or [release] with `S`", root.where("release"));
  }
  if (root.has("release")) {
    root.table("release").reject_unknown({"S"});
    if (!overrides.times.empty()) {
      throw InvalidArgument("a release has no times", "Leave out --times", root.where("release"));
    }
    return Release{};
  }
  const TomlTable flow = root.table("flow");
  flow.reject_unknown({"times"});
  if (!overrides.times.empty()) return Flow{without_repeats(overrides.times)};
  return Flow{checked_numbers(flow, "times", "flow.times", not_a_time)};
}

}  // namespace

QuadraticProblem read_quadratic_problem(const std::string& path, const Overrides& overrides) {
  const TomlTable root = TomlTable::read(path);
  root.reject_unknown({"title", "flow", "release", "risk", "d", "d_prime"});
  QuadraticProblem problem;
  problem.source = path;
  problem.title = root.has("title") ? root.string("title") : "Quadratic problem " + path;
  problem.output = read_output(root, overrides);
  problem.questions = read_questions(root, overrides);

  const bool is_flow = std::holds_alternative<Flow>(problem.output);
  const Side d(root, "d", std::nullopt);
  const Side d_prime(root, "d_prime", "d");
  require_known(d, is_flow);
  require_known(d_prime, is_flow);
  problem.d.loss = read_quadratic_loss(d);
  problem.d_prime.loss = read_quadratic_loss(d_prime);
  problem.way_of_change = way_of_change(d_prime);
  const Eigen::Index dimension = problem.dimension();
  if (problem.d_prime.loss.pull.size() != dimension) {
    throw InvalidArgument(fmt::format("[d_prime] has {} parameters, [d] has {}",
                                      problem.d_prime.loss.pull.size(), dimension),
                          "Both models must have the same parameters", root.where("d_prime"));
  }
  if (is_flow) {
    problem.d.noise = noise_of(d, dimension);
    problem.d_prime.noise = noise_of(d_prime, dimension);
    problem.d.start = start_of(d, dimension);
    problem.d_prime.start = start_of(d_prime, dimension);
    problem.defaults = start_defaults(d);
  } else {
    problem.d.noise = root.table("release").covariance("S", dimension);
    problem.d_prime.noise = problem.d.noise;
  }
  return problem;
}

}  // namespace sfumato::cli
