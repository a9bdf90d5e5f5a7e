// Derivatives of networks for scripts: a JSON list of cases on the standard input, a list of results on
// the standard output. torch_gradients_test.py has both formats.
#include <iostream>
#include <nlohmann/json.hpp>

#include "lab/nn/exact_gradient.hpp"

namespace sfumato::lab {
namespace {

using Json = nlohmann::json;
using Vector = std::vector<double>;

Layer layer_from(const Json& in) {
  const std::string kind = in.at("kind");
  if (kind == "linear") return Linear{in.at("outputs")};
  if (kind == "conv2d") {
    return Conv2d{in.at("channels"), in.at("kernel"), in.at("stride"), in.at("padding")};
  }
  if (kind == "max_pool") return MaxPool2d{in.at("size")};
  if (kind == "average_pool") return AvgPool2d{in.at("size")};
  if (kind == "relu") return Relu{};
  if (kind == "tanh") return Tanh{};
  if (kind == "sigmoid") return Sigmoid{};
  if (kind == "flatten") return Flatten{};
  throw InvalidArgument("no layer is called " + kind, "Use one of the names in this file");
}

Json results(const Json& in) {
  std::vector<NamedLayer> layers;
  for (const Json& layer : in.at("layers")) {
    layers.push_back({"layer" + std::to_string(layers.size()), layer_from(layer)});
  }
  const std::vector<int> shape = in.at("input");
  const Network net({shape.at(0), shape.at(1), shape.at(2)}, layers);
  const Vector parameters = in.at("parameters");
  const std::vector<Vector> values = in.at("records");
  const std::vector<std::size_t> labels = in.at("labels");
  std::vector<LabelledRecord> records;
  for (std::size_t l = 0; l < values.size(); ++l) records.push_back({values[l], labels.at(l)});

  const RecordGradient first = record_gradient(net, parameters, records.at(0));
  const BatchGradient mean = batch_gradient(net, parameters, records, LossScale::mean);
  const Vector direction = in.at("direction"), point = in.at("point");
  const Vector point_direction = in.at("point_direction");
  return {
      {"logits", first.logits},
      {"loss", Vector{first.loss}},
      {"gradient", first.gradient},
      {"mean_loss", Vector{mean.loss}},
      {"mean_gradient", mean.gradient},
      {"hessian_product", hessian_product(net, parameters, records, LossScale::mean, direction)},
      {"point_gradient", point_gradient(net, parameters, point)},
      {"mixed_product", mixed_product(net, parameters, point, point_direction)},
      {"mixed_transposed_product", mixed_transposed_product(net, parameters, point, direction)}};
}

}  // namespace
}  // namespace sfumato::lab

int main() {
  try {
    sfumato::lab::Json out = sfumato::lab::Json::array();
    for (const sfumato::lab::Json& in : sfumato::lab::Json::parse(std::cin))
      out.push_back(sfumato::lab::results(in));
    std::cout << out << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
