// Small networks of every kind of layer, with records and parameters, from a seed.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::testing {

using namespace lab;

class RandomNetworks {
 public:
  explicit RandomNetworks(std::uint64_t seed) : random_(seed) {}

  /// With `smooth`, layers whose derivative jumps (ReLU, maxima) are left out.
  Network network(bool smooth = false) {
    std::vector<NamedLayer> layers;
    const auto add = [&](const Layer& layer) {
      layers.push_back({fmt::format("layer{}", layers.size() + 1), layer});
    };
    const auto activation = [&]() -> Layer {
      if (smooth) return below(2) == 0 ? Layer(Tanh{}) : Layer(Sigmoid{});
      if (below(2) == 0) return Tanh{};
      return Relu{};
    };
    const Shape input = below(3) == 0 ? Shape{from_to(1, 9), 1, 1}
                                      : Shape{from_to(1, 3), from_to(2, 7), from_to(2, 7)};
    Shape shape = input;
    if (shape.height > 1) {
      for (int convolutions = below(3); convolutions > 0; --convolutions) {
        const int padding = below(2);
        const int room = std::min(shape.height, shape.width) + 2 * padding;
        add(Conv2d{from_to(1, 4), from_to(1, std::min(3, room)), from_to(1, 2), padding});
        shape = last_shape(input, layers);
        if (below(3) > 0) add(activation());
        if (below(2) == 0) {
          const int size = from_to(1, std::min({3, shape.height, shape.width}));
          add(smooth || below(2) == 0 ? Layer(AvgPool2d{size}) : Layer(MaxPool2d{size}));
          shape = last_shape(input, layers);
        }
      }
      if (below(8) == 0) {  // an image that is one pixel needs no flatten
        const int size = std::min(shape.height, shape.width);
        if (size == std::max(shape.height, shape.width)) add(AvgPool2d{size});
      }
      add(Flatten{});
    }
    for (int hidden = below(3); hidden > 0; --hidden) {
      add(Linear{from_to(1, 8)});
      add(activation());
    }
    add(Linear{from_to(2, 5)});
    return Network(input, layers);
  }

  std::vector<double> normals(std::size_t count, double scale = 1.0) {
    std::normal_distribution<double> normal(0.0, scale);
    std::vector<double> values(count);
    for (double& value : values) value = normal(random_);
    return values;
  }
  std::vector<double> parameters(const Network& network) {
    return normals(network.parameter_count(), 0.5);
  }
  std::size_t label(const Network& network) {
    return static_cast<std::size_t>(below(static_cast<int>(network.classes())));
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  int from_to(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }

 private:
  static Shape last_shape(const Shape& input, std::vector<NamedLayer> layers) {
    layers.push_back({"end", Flatten{}});
    layers.push_back({"logits", Linear{2}});
    return Network(input, layers).before(layers.size() - 2);
  }
  std::mt19937_64 random_;
};

/// Records that own their values.
class RecordSet {
 public:
  RecordSet(RandomNetworks& random, const Network& network, std::size_t count) {
    for (std::size_t l = 0; l < count; ++l)
      values_.push_back(random.normals(network.input().size()));
    for (const std::vector<double>& value : values_)
      records_.push_back({value, random.label(network)});
  }
  RecordSet(const RecordSet&) = delete;
  RecordSet& operator=(const RecordSet&) = delete;

  [[nodiscard]] std::span<const LabelledRecord> all() const { return records_; }
  [[nodiscard]] const LabelledRecord& operator[](std::size_t l) const { return records_[l]; }

 private:
  std::vector<std::vector<double>> values_;
  std::vector<LabelledRecord> records_;
};

/// "3 x 5 x 5: conv, relu, flatten, linear", for messages.
inline std::string description(const Network& network) {
  std::string text = network.input().text() + ":";
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    constexpr const char* kNames[] = {"linear", "conv", "max",     "average",
                                      "relu",   "tanh", "sigmoid", "flatten"};
    text +=
        fmt::format(" {}({})", kNames[network.layers()[i].layer.index()], network.after(i).text());
  }
  return text;
}

}  // namespace sfumato::testing
