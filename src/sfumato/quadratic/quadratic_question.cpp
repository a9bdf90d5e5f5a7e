#include "sfumato/quadratic/quadratic_question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sfumato/core/error.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/problem/quadratic_loss.hpp"
#include "sfumato/problem/risk_keys.hpp"
#include "sfumato/problem/side.hpp"
#include "sfumato/quadratic/quadratic_keys.hpp"
#include "sfumato/sde/step_noise.hpp"

namespace sfumato {
namespace {

const Keys<QuadraticFlow>& flow_keys() {
  using Q = QuadraticFlow;
  static const Keys<Q> all = {keys::required(
      keys::numbers_key<Q>("times", "list of numbers >= 0",
                           "times at which the weights are seen; inf: the stationary distribution",
                           &Q::times, not_a_time))};
  return all;
}

const Keys<QuadraticChain>& chain_keys() {
  using Q = QuadraticChain;
  static const Keys<Q> all = {
      keys::required(keys::number_key<Q>("learning_rate", "number > 0",
                                         "instead of [flow]: x <- x - learning_rate grad f(x) + "
                                         "N(0, S)",
                                         &Q::learning_rate, not_a_learning_rate)),
      keys::required(keys::numbers_key<Q>(
          "steps", "list of whole numbers >= 0",
          "numbers of steps after which the weights are seen; inf: the stationary distribution",
          &Q::steps, not_a_step_count))};
  return all;
}

/// Refuses keys of a side that belong to another kind of output.
void require_known(const Side& side, const QuadraticQuestion& question) {
  const bool release = question.is_release();
  const bool chain = question.chain() != nullptr;
  std::vector<std::string> known = loss_keys(side);
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
Covariance step_noise(const Side& side, double learning_rate, Eigen::Index dimension) {
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
  if (source.key == "S") return given;
  return located(source.where(), [&] { return sfumato::step_noise(given, learning_rate); });
}

/// A table that an option made, over a file that has another kind of output.
[[noreturn]] void refuse_option(const TomlTable& root, const std::string& file_has,
                                const std::string& option) {
  const Where where = root.where(file_has);
  if (file_has == "release") {
    throw InvalidArgument(fmt::format("a release has no {}", option),
                          fmt::format("Leave out `{}`", option), where);
  }
  const bool flow = file_has == "flow";
  throw InvalidArgument(
      flow ? "a flow has times, not steps" : "a chain has steps, not times",
      flow ? "Give `times`, or a file with [chain]" : "Give `steps`, or a file with [flow]", where);
}

/// The kind of output that the file describes: flow, chain or release.
std::string output_of(const TomlTable& root) {
  std::vector<std::string> given;
  for (const char* key : {"flow", "chain", "release"}) {
    if (root.has(key)) given.emplace_back(key);
  }
  if (given.size() == 1) return given.front();
  if (given.size() == 2) {
    for (const char* option : {"times", "steps"}) {
      const std::string table = option == std::string("times") ? "flow" : "chain";
      if (!root.has(table) || !root.table(table).where(option).is_option()) continue;
      if (root.table(table).keys().size() > 1) continue;  // the file has more of it
      refuse_option(root, given.front() == table ? given.back() : given.front(), option);
    }
  }
  throw InvalidArgument(
      given.empty() ? "none of [flow], [chain] and [release] is given"
                    : fmt::format("[{}] are {} given", fmt::join(given, "] and ["),
                                  given.size() == 2 ? "both" : "all"),
      "Give [flow] with `times`, [chain] with `learning_rate` and `steps`, or [release] with `S`",
      root.where(given.empty() ? "" : given.back()));
}

void read_output(const TomlTable& root, QuadraticQuestion& question) {
  const std::string kind = output_of(root);
  const TomlTable table = root.table(kind);
  if (kind == "flow") {
    read_keys(question.output.emplace<QuadraticFlow>(), table, flow_keys());
  } else if (kind == "chain") {
    if (table.has("times")) {
      throw InvalidArgument("a chain has `steps`, not `times`",
                            "Count the steps (time / learning_rate), or replace [chain] by [flow]",
                            table.where("times"));
    }
    read_keys(question.output.emplace<QuadraticChain>(), table, chain_keys());
  } else {
    table.reject_unknown({"S"});
    question.output.emplace<QuadraticRelease>();
  }
}

}  // namespace

std::vector<double> QuadraticQuestion::looks() const {
  if (is_release()) return {};
  return chain() != nullptr ? chain()->steps : std::get<QuadraticFlow>(output).times;
}

const std::vector<KeyInfo>& quadratic_keys() {
  static const std::vector<KeyInfo> all = [] {
    std::vector<KeyInfo> keys = {
        {"", "title", {}, "text", "", false, "title of the output", KeyShape::text, false, "TEXT"}};
    const auto add = [&](const std::vector<KeyInfo>& more) {
      keys.insert(keys.end(), more.begin(), more.end());
    };
    const char* covariance = "number | list | matrix | path";
    add(infos_of(flow_keys(), "flow"));
    add(infos_of(chain_keys(), "chain"));
    keys.push_back({"release",
                    "S",
                    {},
                    covariance,
                    "",
                    false,
                    "instead of [flow]: x* + N(0, S) is released once"});
    add(infos_of(risk_keys(), "risk"));
    add(loss_key_infos());
    add(training_key_infos());
    keys.push_back({"d",
                    "S",
                    {},
                    covariance,
                    "",
                    false,
                    "for a chain, instead of Sigma: covariance of one step, learning_rate Sigma"});
    keys.push_back({"d_prime",
                    "without_row",
                    {},
                    "integer >= 1",
                    "",
                    false,
                    "k: D' is D without row k of B and y"});
    return keys;
  }();
  return all;
}

QuadraticQuestion read_quadratic_question(const std::string& path) {
  return read_quadratic_question(TomlTable::read(path), path);
}

QuadraticQuestion read_quadratic_question(const TomlTable& root, const std::string& source) {
  root.reject_unknown({"title", "flow", "chain", "release", "risk", "d", "d_prime"});
  QuadraticQuestion question;
  question.source = source;
  if (root.has("title")) question.title = root.string("title");
  read_output(root, question);
  question.risk = read_risk(root);

  const Side d(root, "d", std::nullopt);
  const Side d_prime(root, "d_prime", "d");
  require_known(d, question);
  require_known(d_prime, question);
  question.data.d.loss = read_quadratic_loss(d);
  question.data.d_prime.loss = read_quadratic_loss(d_prime);
  question.way_of_change = way_of_change(d_prime);
  const Eigen::Index dimension = question.dimension();
  if (question.data.d_prime.dimension() != dimension) {
    throw InvalidArgument(fmt::format("[d_prime] has {} parameters, [d] has {}",
                                      question.data.d_prime.dimension(), dimension),
                          "Both models must have the same parameters", root.where("d_prime"));
  }
  if (question.is_release()) {
    question.data.d.noise = root.table("release").covariance("S", dimension);
    question.data.d_prime.noise = question.data.d.noise;
    return question;
  }
  const auto noise_of = [&](const Side& side) {
    return question.chain() != nullptr
               ? step_noise(side, question.chain()->learning_rate, dimension)
               : flow_noise(side, dimension);
  };
  question.data.d.noise = noise_of(d);
  question.data.d_prime.noise = noise_of(d_prime);
  question.data.d.start = start_of(d, dimension);
  question.data.d_prime.start = start_of(d_prime, dimension);
  question.defaults = start_defaults(d);
  return question;
}

void require_quadratic(const QuadraticQuestion& question) {
  require_risk(question.risk);
  if (question.data.d_prime.dimension() != question.dimension()) {
    throw InvalidArgument(fmt::format("D' has {} parameters, D has {}",
                                      question.data.d_prime.dimension(), question.dimension()),
                          "Both models must have the same parameters", Where::key("data"));
  }
  if (question.is_release()) return;
  const bool chain = question.chain() != nullptr;
  const char* key = chain ? "steps" : "times";
  if (question.looks().empty()) throw InvalidArgument("is empty", "Give a number", Where::key(key));
  require_key(key, question.looks(), chain ? not_a_step_count : not_a_time);
  if (chain) require_key("learning_rate", question.chain()->learning_rate, not_a_learning_rate);
}

}  // namespace sfumato
