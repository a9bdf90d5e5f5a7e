#include "lab/train/train_question.hpp"

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
  throw InvalidArgument(fmt::format("{} = {} is unknown", table.label(key), toml_text(text)),
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

}  // namespace sfumato::lab
