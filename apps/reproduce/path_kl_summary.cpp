#include "reproduce/path_kl_summary.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "lab/images/data_sets.hpp"
#include "lab/study/study_data.hpp"
#include "reproduce/json_value.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

/// What is being counted for one policy and world.
struct Count {
  std::size_t models = 0, infinite = 0;
  double sum = 0.0, steps = 0.0;
  std::map<std::string, std::size_t> layers;
  std::string example;
};

/// "fc1.weight" of "fc1.weight[3, 7]".
std::string tensor_of(const std::string& parameter) {
  return parameter.substr(0, parameter.find('['));
}

void add_first_infinite(Count& count, const Network& network, const std::vector<float>& values) {
  std::set<std::string> tensors;
  std::vector<std::string> names;
  for (const float value : values) {
    if (value < 0.0F) break;  // fewer than there is room for
    names.push_back(network.parameter_name(static_cast<std::size_t>(value)));
    tensors.insert(tensor_of(names.back()));
  }
  for (const std::string& tensor : tensors) ++count.layers[tensor];
  if (count.example.empty()) count.example = fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<PathKlSummary> path_kl_summaries(const TrainedStudy& trained) {
  if (!trained.study.train.path_kl) return {};
  // Names of parameters need the network alone, and of the data its shape alone.
  LabelledSet shape;
  const bool colour = trained.study.data.set == "cifar10";
  shape.shape = colour ? ImageShape{3, 32, 32} : ImageShape{1, 28, 28};
  shape.classes = 10;
  const Network network = network_of(trained.study.model, shape);

  std::map<std::pair<std::uint32_t, std::size_t>, Count> counts;
  Ledger::read(trained.ledger).for_each([&](const TrialResult& trial) {
    for (std::size_t w = 0; w < trial.worlds.size(); ++w) {
      const WorldResult& world = trial.worlds[w];
      if (std::isnan(world.path_kl)) continue;
      Count& count = counts[{trial.key.policy, w}];
      ++count.models;
      count.sum += world.path_kl;
      count.steps += static_cast<double>(world.infinite_steps);
      count.infinite += world.infinite_steps != 0 ? 1 : 0;
      for (const NamedSeries& series : world.series) {
        if (series.name == "infinite_coordinates")
          add_first_infinite(count, network, series.values);
      }
    }
  });
  std::vector<PathKlSummary> summaries;
  for (const auto& [key, count] : counts) {
    const auto models = static_cast<double>(count.models);
    summaries.push_back(
        {trained.study.noise.at(key.first).name,
         key.second == 0 ? "D" : "D'",
         count.models,
         count.infinite,
         count.infinite == 0 ? count.sum / models : std::numeric_limits<double>::infinity(),
         count.steps / models,
         {count.layers.begin(), count.layers.end()},
         count.example});
  }
  return summaries;
}

Table path_kl_table(const std::string& key, const std::vector<PathKlSummary>& summaries) {
  Table table(key, "What the steps of training reveal: the path KL of the same models",
              {{"policy", "noise"},
               {"along", "along"},
               {"models", "models"},
               {"infinite", "infinite"},
               {"mean", "mean nats"},
               {"steps", "infinite steps"},
               {"layers", "first because of"}},
              2);
  for (const PathKlSummary& o : summaries) {
    std::vector<std::string> layers;
    for (const auto& [layer, models] : o.layers)
      layers.push_back(fmt::format("{} ({})", layer, models));
    table.add_row({o.policy, o.along, o.models, o.infinite,
                   Claimed<double>{o.mean, Claim::estimate,
                                   "mean over models of the sum of exact step KLs (Spec §8.2)"},
                   o.mean_infinite_steps, fmt::format("{}", fmt::join(layers, ", "))});
  }
  return table;
}

nlohmann::ordered_json path_kl_json(const std::vector<PathKlSummary>& summaries) {
  nlohmann::ordered_json json;
  for (const PathKlSummary& o : summaries) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::object();
    for (const auto& [layer, models] : o.layers) layers[layer] = models;
    json[o.policy]["along " + o.along] = {{"models", o.models},
                                          {"infinite", o.infinite},
                                          {"mean_nats", json_number(o.mean)},
                                          {"mean_infinite_steps", o.mean_infinite_steps},
                                          {"first_because_of", layers},
                                          {"example", o.example}};
  }
  return json;
}

}  // namespace sfumato::apps
