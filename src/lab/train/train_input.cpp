#include "lab/train/train_input.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

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
    if (policies[p].metric != PrivateMetric::input) continue;
    throw InvalidArgument("the metric `input` is made of moments that each world releases first",
                          "Train it with `sfumato study run`, or with --private",
                          study.noise[p].where);
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
