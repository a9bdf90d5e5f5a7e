#include "lab/nn/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sfumato/core/check.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

/// Parameters of a network, and numbers between two layers: a group of models beyond it takes tens of
/// gigabytes.
constexpr std::size_t kMostNumbers = std::size_t{1} << 26;

[[noreturn]] void refuse(const NamedLayer& layer, const std::string& problem,
                         const std::string& remedy, const Where& where) {
  throw InvalidArgument(fmt::format("layer `{}` {}", layer.name, problem), remedy, where);
}

void require_size(const NamedLayer& layer, std::string_view what, int value, int least,
                  const Where& where) {
  constexpr int kMost = 1 << 20;
  if (value < least || value > kMost) {
    refuse(layer, fmt::format("has {} = {}", what, value),
           fmt::format("Use a number from {} to {}", least, kMost), where);
  }
}

Shape pooled(const NamedLayer& layer, int size, const Shape& in, const Where& where) {
  require_size(layer, "size", size, 1, where);
  if (size > in.height || size > in.width) {
    refuse(layer, fmt::format("pools {0} x {0} pixels, its input is {1}", size, in.text()),
           "Use a smaller window", where);
  }
  return {in.channels, in.height / size, in.width / size};
}

Shape multiplied(const NamedLayer& layer, int outputs, const Shape& in, const Where& where) {
  require_size(layer, "outputs", outputs, 1, where);
  if (in.height != 1 || in.width != 1) {
    refuse(layer, fmt::format("is linear, its input is {}", in.text()),
           "Put a `flatten` layer before it", where);
  }
  return {outputs, 1, 1};
}

Shape convolved(const NamedLayer& layer, const Conv2d& c, const Shape& in, const Where& where) {
  require_size(layer, "channels", c.channels, 1, where);
  require_size(layer, "kernel", c.kernel, 1, where);
  require_size(layer, "stride", c.stride, 1, where);
  require_size(layer, "padding", c.padding, 0, where);
  const int height = in.height + 2 * c.padding, width = in.width + 2 * c.padding;
  if (c.kernel > height || c.kernel > width) {
    refuse(layer,
           fmt::format("has a {0} x {0} kernel, its input is {1} with padding {2}", c.kernel,
                       in.text(), c.padding),
           "Use a smaller kernel or more padding", where);
  }
  return {c.channels, (height - c.kernel) / c.stride + 1, (width - c.kernel) / c.stride + 1};
}

Shape mapped(const NamedLayer& layer, const FixedMap& map, const Shape& in, const Where& where) {
  const Shape out = map.patches ? convolved(layer, *map.patches, in, where)
                                : multiplied(layer, in.channels, in, where);
  const auto columns = static_cast<std::size_t>(out.channels);
  const std::size_t rows =
      map.patches ? static_cast<std::size_t>(map.patches->kernel * map.patches->kernel) *
                        static_cast<std::size_t>(in.channels)
                  : in.size();
  if (!map.matrix || rows != columns || map.matrix->size() != rows * columns) {
    refuse(layer, fmt::format("is a fixed map of another width than {}", rows),
           "Give a square matrix of that many rows", where);
  }
  return out;
}

Shape output_shape(const NamedLayer& layer, const Shape& in, const Where& where) {
  return std::visit(
      Overloaded{[&](const Linear& l) { return multiplied(layer, l.outputs, in, where); },
                 [&](const Conv2d& c) { return convolved(layer, c, in, where); },
                 [&](const FixedMap& map) { return mapped(layer, map, in, where); },
                 [&](const MaxPool2d& p) { return pooled(layer, p.size, in, where); },
                 [&](const AvgPool2d& p) { return pooled(layer, p.size, in, where); },
                 [&](const Flatten&) {
                   return Shape{static_cast<int>(in.size()), 1, 1};
                 },
                 [&](const auto&) { return in; }},
      layer.layer);
}

/// Rows and columns of the layer's weight matrix, if it has one.
std::optional<std::pair<std::size_t, std::size_t>> weight_matrix(const Layer& layer,
                                                                 const Shape& in) {
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  if (const auto* l = std::get_if<Linear>(&layer)) return {{in.size(), count(l->outputs)}};
  if (const auto* c = std::get_if<Conv2d>(&layer)) {
    return {{count(c->kernel) * count(c->kernel) * count(in.channels), count(c->channels)}};
  }
  return std::nullopt;
}

Network mlp(int hidden, const Layer& activation) {
  return Network(
      {1, 28, 28},
      {{"flatten", Flatten{}}, {"fc1", Linear{hidden}}, {"act1", activation}, {"fc2", Linear{10}}});
}

Network lenet(const Layer& activation) {
  return Network({3, 32, 32}, {{"conv1", Conv2d{6, 5}},
                               {"act1", activation},
                               {"pool1", MaxPool2d{2}},
                               {"conv2", Conv2d{16, 5}},
                               {"act2", activation},
                               {"pool2", MaxPool2d{2}},
                               {"flatten", Flatten{}},
                               {"fc1", Linear{120}},
                               {"act3", activation},
                               {"fc2", Linear{84}},
                               {"act4", activation},
                               {"fc3", Linear{10}}});
}

}  // namespace

std::string Shape::text() const {
  if (height == 1 && width == 1) return fmt::format("{}", channels);
  return fmt::format("{} x {} x {}", channels, height, width);
}

Network::Network(Shape input, std::vector<NamedLayer> layers, const Where& where)
    : layers_(std::move(layers)) {
  if (input.channels < 1 || input.height < 1 || input.width < 1) {
    throw InvalidArgument("the network's input is empty: " + input.text(),
                          "Give it at least one number per record", where);
  }
  shapes_.push_back(input);
  std::set<std::string> names;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const NamedLayer& layer = layers_[i];
    if (layer.name.empty() || !names.insert(layer.name).second) {
      throw InvalidArgument(layer.name.empty()
                                ? fmt::format("layer {} has no name", i + 1)
                                : fmt::format("two layers are named `{}`", layer.name),
                            "Give each layer a name of its own", where);
    }
    const Shape in = shapes_.back();
    // Gradients of what layers read are not computed below the first layer with parameters.
    if (std::holds_alternative<FixedMap>(layer.layer) && blocks_.empty()) {
      refuse(layer, "is a fixed map before the first layer with parameters",
             "Map the records instead", where);
    }
    shapes_.push_back(output_shape(layer, in, where));
    if (shapes_.back().size() > kMostNumbers) {
      refuse(layer, fmt::format("gives {} numbers per record", shapes_.back().text()),
             fmt::format("Keep it to {}", kMostNumbers), where);
    }
    if (const auto matrix = weight_matrix(layer.layer, in)) {
      blocks_.push_back({i, parameter_count_, matrix->first, matrix->second});
      parameter_count_ += blocks_.back().size();
      // Indices of parameters are counters of the random stream, and a group holds every model several times.
      if (parameter_count_ > kMostNumbers) {
        refuse(layer, fmt::format("takes the network to {} parameters", parameter_count_),
               fmt::format("Keep it to {}: several models are trained at once", kMostNumbers),
               where);
      }
    }
  }
  if (blocks_.empty()) {
    throw InvalidArgument("the network has no parameters", "Add a linear or convolution layer",
                          where);
  }
  const Shape& out = shapes_.back();
  if (out.height != 1 || out.width != 1 || out.channels < 2) {
    throw InvalidArgument(
        fmt::format("the network ends in {} numbers, not in the logits of two or more classes",
                    out.text()),
        "End it with a linear layer that has one output per class", where);
  }
}

std::string Network::parameter_name(std::size_t index) const {
  for (const ParameterBlock& block : blocks_) {
    if (index >= block.offset + block.size()) continue;
    const std::string& name = layers_[block.layer].name;
    if (index >= block.bias()) return fmt::format("{}.bias[{}]", name, index - block.bias());
    const std::size_t row = (index - block.offset) / block.outputs;
    return fmt::format("{}.weight[{}, {}]", name, row, (index - block.offset) % block.outputs);
  }
  throw InvalidArgument(
      fmt::format("parameter {} of a network with {} parameters", index, parameter_count_),
      "Count parameters from 0");
}

double Network::gradient_flops() const {
  double flops = 0.0;
  for (const ParameterBlock& block : blocks_) {
    const Shape& out = after(block.layer);
    const double uses = static_cast<double>(block.weights()) * out.height * out.width;
    flops += uses * (&block == &blocks_.front() ? 4.0 : 6.0);
  }
  return flops;
}

std::vector<std::string> preset_names() { return {"mlp-10", "mlp-30", "mlp-100", "lenet"}; }

Network preset_network(std::string_view name, const Layer& activation) {
  if (name == "mlp-10") return mlp(10, activation);
  if (name == "mlp-30") return mlp(30, activation);
  if (name == "mlp-100") return mlp(100, activation);
  if (name == "lenet") return lenet(activation);
  throw InvalidArgument(fmt::format("no preset network is called `{}`", name),
                        suggestion(name, preset_names(), "presets"));
}

std::vector<float> initial_parameters(const Network& network, std::uint64_t seed) {
  std::vector<double> uniform(network.parameter_count());
  Stream(StreamKey(seed, Purpose::initialisation)).fill_uniform(0, 0, uniform);
  std::vector<float> parameters(uniform.size());
  for (const ParameterBlock& block : network.blocks()) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(block.inputs));
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      parameters[i] = static_cast<float>(bound * (2.0 * uniform[i] - 1.0));
    }
  }
  return parameters;
}

}  // namespace sfumato::lab
