// Golden functions of Spec §23 and §25: private training of networks and its audit.
#include "golden/registry.hpp"
#include "lab/nn/bundle.hpp"
#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/gradient_canary.hpp"
#include "lab/nn/gradient_moments.hpp"
#include "lab/nn/private_metric.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

std::vector<double> numbers(const Json& in, const char* key) {
  return in.at(key).get<std::vector<double>>();
}
double number(const Json& in, const char* key) { return in.at(key).get<double>(); }

Json layer_split_json(const Json& in) {
  const LayerSplit split = layer_split(numbers(in, "clip"), numbers(in, "dims"),
                                       numbers(in, "weights"), number(in, "mu"));
  return {{"noise_std", split.deviations},
          {"objective", split.objective},
          {"objective_uniform", split.uniform_objective},
          {"gain", split.uniform_objective / split.objective}};
}

Json second_moment_json(const Json& in) {
  const auto gradients = in.at("noisy_gradients").get<std::vector<std::vector<double>>>();
  const auto variances = in.at("noise_variances").get<std::vector<std::vector<double>>>();
  GradientMoments moments(gradients.front().size(), number(in, "beta"), number(in, "floor"));
  for (std::size_t t = 0; t < gradients.size(); ++t) moments.add(gradients[t], variances[t]);
  return {{"second_moment", moments.second_moments()}};
}

Json one_step_shape_json(const Json& in) {
  const OneStepShape shape = one_step_shape(numbers(in, "hessian"), numbers(in, "gradient_moment"));
  return {{"sigma_trace2", shape.variances}, {"gain", shape.gain}};
}

Json canary_mu_json(const Json& in) {
  const CanaryMu mu =
      canary_mu(numbers(in, "Sigma_diag"), numbers(in, "canary"), number(in, "clip"),
                number(in, "noise_multiplier"), in.at("steps").get<std::uint64_t>());
  return {{"mu_pair", mu.pair}, {"mu_certified", mu.certified}};
}

Layer layer_from(const Json& json) {
  const auto kind = json.at(0).get<std::string>();
  const auto size = [&](std::size_t i) { return json.at(i).get<int>(); };
  if (kind == "linear") return Linear{size(1)};
  if (kind == "conv2d") return Conv2d{size(1), size(2), size(3), size(4)};
  if (kind == "max_pool") return MaxPool2d{size(1)};
  if (kind == "avg_pool") return AvgPool2d{size(1)};
  if (kind == "tanh") return Tanh{};
  if (kind == "flatten") return Flatten{};
  return Relu{};
}

Network network_from(const Json& in) {
  const auto shape = in.at("input").get<std::vector<int>>();
  std::vector<NamedLayer> layers;
  for (const Json& layer : in.at("layers")) {
    layers.push_back({"layer" + std::to_string(layers.size() + 1), layer_from(layer)});
  }
  return Network({shape.at(0), shape.at(1), shape.at(2)}, std::move(layers));
}

/// The sum by the engine, in single precision; the norms by the reference.
Json clipped_gradient_json(const Json& in) {
  const Network network = network_from(in);
  const auto parameters = numbers(in, "parameters");
  const auto records = in.at("records").get<std::vector<std::vector<double>>>();
  const auto labels = in.at("labels").get<std::vector<std::uint8_t>>();
  const auto inverse = in.at("inverse_variances").get<std::vector<float>>();
  const Clipping clipping{numbers(in, "clips")};
  std::vector<LabelledRecord> exact;
  std::vector<std::vector<float>> values;
  std::vector<const float*> rows;
  for (std::size_t r = 0; r < records.size(); ++r) {
    exact.push_back({records[r], labels[r]});
    values.emplace_back(records[r].begin(), records[r].end()).resize(records[r].size() + 8);
  }
  for (const auto& row : values) rows.push_back(row.data());
  Bundle bundle(network, 1);
  bundle.set_parameters(0, std::vector<float>(parameters.begin(), parameters.end()));
  bundle.clip({clipping}, inverse);
  const std::vector<float> weights(records.size(), 1.0F);
  bundle.compute_gradients({{rows.size(), rows.data()}, labels.data(), weights.data()}, nullptr);
  std::vector<float> sum(network.parameter_count());
  bundle.get_gradient(0, sum);
  return {{"sum", sum},
          {"norms", clipped_gradient(network, parameters, exact, clipping, inverse).norms}};
}

}  // namespace

void register_training(Registry& registry) {
  registry["layer_split"] = layer_split_json;
  registry["debiased_second_moment"] = second_moment_json;
  registry["one_step_shape"] = one_step_shape_json;
  registry["canary_mu"] = canary_mu_json;
  registry["clipped_gradient"] = clipped_gradient_json;
}

}  // namespace sfumato::apps
