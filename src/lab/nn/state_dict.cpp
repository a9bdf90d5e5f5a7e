#include "lab/nn/state_dict.hpp"

#include "sfumato/core/check.hpp"

namespace sfumato::lab {
namespace {

NamedTensor conv_weight(const Network& network, const ParameterBlock& block, const Conv2d& conv,
                        std::span<const float> parameters) {
  const auto kernel = static_cast<std::size_t>(conv.kernel);
  const auto inputs = static_cast<std::size_t>(network.before(block.layer).channels);
  NamedTensor tensor{"", {block.outputs, inputs, kernel, kernel}, {}};
  for (std::size_t out = 0; out < block.outputs; ++out) {
    for (std::size_t in = 0; in < inputs; ++in) {
      for (std::size_t pixel = 0; pixel < kernel * kernel; ++pixel) {
        const std::size_t row = pixel * inputs + in;
        tensor.values.push_back(parameters[block.offset + row * block.outputs + out]);
      }
    }
  }
  return tensor;
}

/// `image` is what was flattened into the layer's inputs.
NamedTensor linear_weight(const ParameterBlock& block, const Shape& image,
                          std::span<const float> parameters) {
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t pixels = image.size() / channels;
  NamedTensor tensor{"", {block.outputs, block.inputs}, {}};
  for (std::size_t out = 0; out < block.outputs; ++out) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const std::size_t row = pixel * channels + channel;
        tensor.values.push_back(parameters[block.offset + row * block.outputs + out]);
      }
    }
  }
  return tensor;
}

bool keeps_order(const Layer& layer) {
  return std::holds_alternative<Relu>(layer) || std::holds_alternative<Tanh>(layer) ||
         std::holds_alternative<Sigmoid>(layer) || std::holds_alternative<Flatten>(layer);
}

}  // namespace

std::vector<NamedTensor> state_dict(const Network& network, std::span<const float> parameters) {
  require_size("parameters", std::ssize(parameters),
               static_cast<std::ptrdiff_t>(network.parameter_count()));
  std::vector<NamedTensor> tensors;
  for (const ParameterBlock& block : network.blocks()) {
    const NamedLayer& layer = network.layers()[block.layer];
    NamedTensor weight;
    if (const auto* conv = std::get_if<Conv2d>(&layer.layer)) {
      weight = conv_weight(network, block, *conv, parameters);
    } else {
      // Back over layers that keep the numbers in their order, to what was flattened.
      std::size_t i = block.layer;
      while (i > 0 && keeps_order(network.layers()[i - 1].layer)) --i;
      weight = linear_weight(block, network.before(i), parameters);
    }
    weight.name = layer.name + ".weight";
    tensors.push_back(std::move(weight));
    const auto bias = parameters.subspan(block.bias(), block.outputs);
    tensors.push_back({layer.name + ".bias", {block.outputs}, {bias.begin(), bias.end()}});
  }
  return tensors;
}

}  // namespace sfumato::lab
