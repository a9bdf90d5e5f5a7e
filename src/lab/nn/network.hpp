#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

/// Activations of one record: height x width pixels of `channels` numbers each. Everywhere in `nn` they
/// are stored pixel by pixel, (y width + x) channels + c; a plain vector of n numbers is {n, 1, 1}.
struct Shape {
  int channels = 1, height = 1, width = 1;
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  [[nodiscard]] std::string text() const;  ///< "6 x 14 x 14" (channels first), or "400"
  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Linear {
  int outputs;
};
struct Conv2d {
  int channels;  ///< of the output
  int kernel;    ///< height and width
  int stride = 1;
  int padding = 0;  ///< zeros on each side
};
struct MaxPool2d {
  int size;  ///< window and stride; what does not fill a window at the far edges is left out
};
struct AvgPool2d {
  int size;
};
struct Relu {};
struct Tanh {};
struct Sigmoid {};  ///< 1 / (1 + e^-x)
struct Flatten {};
/// A linear map that is not trained and has no biases: the matrix, of as many rows as columns and input-major as weights are, times a plain vector
/// or, with `patches`, times what lies under each position of their kernel, whose channels are as many as the matrix has columns.
struct FixedMap {
  std::shared_ptr<const std::vector<float>> matrix;
  std::optional<Conv2d> patches = {};
};
using Layer =
    std::variant<Linear, Conv2d, MaxPool2d, AvgPool2d, Relu, Tanh, Sigmoid, Flatten, FixedMap>;

struct NamedLayer {
  std::string name;  ///< appears in messages and names the parameters: "fc1"
  Layer layer;
};

/// Where the parameters of one layer sit in the parameter vector: weights, then biases.
///
/// The weights are input-major: linear (input, output), convolution (y, x, input channel, output
/// channel). This order is the identity of a parameter: it addresses noise, covariances and gradients.
struct ParameterBlock {
  std::size_t layer;    ///< index into Network::layers()
  std::size_t offset;   ///< of the first weight
  std::size_t inputs;   ///< rows of the weight matrix: fan-in
  std::size_t outputs;  ///< columns, and number of biases
  [[nodiscard]] std::size_t weights() const { return inputs * outputs; }
  [[nodiscard]] std::size_t size() const { return weights() + outputs; }
  [[nodiscard]] std::size_t bias() const { return offset + weights(); }  ///< offset of the biases
};

/// A chain of layers that ends in the logits of a softmax cross-entropy loss.
///
/// Throws   InvalidArgument that names the layer and both shapes where a layer does not fit what it is
///          given (a linear layer on an image: put `flatten` before it; a kernel larger than its image; a fixed map of another width),
///          where a size is not positive, a name is empty or repeated, or no layer has parameters.
class Network {
 public:
  Network(Shape input, std::vector<NamedLayer> layers, const Where& where = Where::here());

  [[nodiscard]] const Shape& input() const { return shapes_.front(); }
  [[nodiscard]] const std::vector<NamedLayer>& layers() const { return layers_; }
  /// What layer i reads and writes.
  [[nodiscard]] const Shape& before(std::size_t i) const { return shapes_[i]; }
  [[nodiscard]] const Shape& after(std::size_t i) const { return shapes_[i + 1]; }
  [[nodiscard]] std::size_t classes() const { return shapes_.back().size(); }

  [[nodiscard]] const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t parameter_count() const { return parameter_count_; }
  /// "fc1.weight[3, 7]" or "conv1.bias[2]" of parameter `index`, indices as in the parameter vector.
  [[nodiscard]] std::string parameter_name(std::size_t index) const;

  /// Multiplications and additions of one gradient on one record, counted densely: two for each
  /// weight use forwards, four backwards, two in the first layer with parameters (its input needs no
  /// gradient). What a roofline divides by.
  [[nodiscard]] double gradient_flops() const;

 private:
  std::vector<NamedLayer> layers_;
  std::vector<Shape> shapes_;
  std::vector<ParameterBlock> blocks_;
  std::size_t parameter_count_ = 0;
};

/// The networks of the paper: "mlp-10", "mlp-30", "mlp-100" (784 - n - 10) and "lenet" (3 x 32 x 32; both
/// convolutions pooled, which its 16 * 5 * 5 inputs imply). `activation` replaces ReLU where given.
/// Throws   InvalidArgument with a suggestion for another name.
[[nodiscard]] Network preset_network(std::string_view name, const Layer& activation = Relu{});
[[nodiscard]] std::vector<std::string> preset_names();

/// Where training starts: weights and biases uniform on +-1/sqrt(fan-in) of their layer, which are the
/// distributions that PyTorch gives its linear and convolution layers when nothing else is asked for.
///
/// Parameter i is made of the uniform number (step 0, index i) of the stream (seed,
/// Purpose::initialisation): a pure function of the seed, with the same bits on every machine.
[[nodiscard]] std::vector<float> initial_parameters(const Network& network, std::uint64_t seed);

}  // namespace sfumato::lab
