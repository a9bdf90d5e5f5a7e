#include "lab/train/train_question.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

constexpr TrainMeasure kMeasures[] = {TrainMeasure::hessian, TrainMeasure::flatness,
                                      TrainMeasure::covariance, TrainMeasure::noise};

TrainMeasure measure_of(const TomlTable& table, const std::string& key, const std::string& text) {
  std::vector<std::string> names;
  for (const TrainMeasure measure : kMeasures) {
    if (name(measure) == text) return measure;
    names.emplace_back(name(measure));
  }
  throw InvalidArgument(table.problem(key, " = ", toml_text(text) + " is unknown"),
                        suggestion(text, names, "values"), table.where(key));
}

Key<TrainQuestion> measures_key() {
  Key<TrainQuestion> key;
  key.name = "measure";
  key.type = "list of names";
  key.help = "what to measure on the final models: hessian, flatness, covariance, noise";
  key.read = [](TrainQuestion& to, const TomlTable& table, const std::string& given) {
    to.measures.clear();
    for (const std::string& text : keys::checked_texts(table, given)) {
      to.measures.push_back(measure_of(table, given, text));
    }
  };
  key.write = [](const TrainQuestion& from) {
    std::vector<std::string> quoted;
    for (const TrainMeasure measure : from.measures) quoted.push_back(toml_text(name(measure)));
    return quoted.empty() ? std::string() : fmt::format("[{}]", fmt::join(quoted, ", "));
  };
  key.aliases = {"measures"};
  key.shape = KeyShape::texts;
  return key;
}

}  // namespace

std::string_view name(TrainMeasure measure) {
  switch (measure) {
    case TrainMeasure::hessian: return "hessian";
    case TrainMeasure::flatness: return "flatness";
    case TrainMeasure::covariance: return "covariance";
    case TrainMeasure::noise: return "noise";
  }
  throw InternalError("a measure without a name");
}

bool TrainQuestion::wants(TrainMeasure measure) const {
  return std::find(measures.begin(), measures.end(), measure) != measures.end();
}

const Keys<TrainQuestion>& train_keys() {
  using namespace keys;
  using Q = TrainQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("study", "study file (TOML)", &Q::study)),
      output_key<Q>("out", "directory for parameters, log and checkpoints", &Q::out),
      flag_key<Q>("resume", "resume an interrupted run from its checkpoint in the directory",
                  &Q::resume),
      measures_key()};
  return all;
}

TrainInput read_input(const TrainQuestion& question) {
  Study study = read_study(question.study, question.settings);
  if (!study.audit.share.all()) {
    throw InvalidArgument("`train` trains D and D' side by side, `share` says otherwise",
                          "Use `sfumato study run`", study.audit.where);
  }
  StudySets sets = load_sets(study);
  SlotPair pair = adjacent_pair(study, sets.train);
  auto data = training_data(sets.train, pair);
  Network network = network_of(study.model, sets.train);
  std::vector<NoisePolicy> policies = policies_of(study, network);
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (policies[p].metric<InputMomentsMetric>() == nullptr) continue;
    throw InvalidArgument(
        "the metric \"input\" is made of moments that D and D' each release first",
        "Train it with `sfumato study run`, or with --private", study.noise[p].where);
  }
  std::string identity = canonical_text(study) + inputs_text(study, sets);
  return {std::move(study),   std::move(sets),     std::move(pair),    std::move(data),
          std::move(network), std::move(policies), std::move(identity)};
}

std::string world_name(std::size_t world) { return world == 0 ? "D" : "D'"; }

std::string file_stem(const NoisePolicy& policy, std::size_t world) {
  return fmt::format("{}.{}", policy.name, world == 0 ? "d" : "d_prime");
}

std::vector<std::string> parameter_names(const Network& network,
                                         const std::vector<std::size_t>& indices) {
  std::vector<std::string> names;
  names.reserve(indices.size());
  for (const std::size_t index : indices) names.push_back(network.parameter_name(index));
  return names;
}

}  // namespace sfumato::lab
