#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lab/nn/kernel/patches.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {

/// Layers that are worked on together: an optional linear layer or convolution, an optional
/// activation, an optional pool, in this order. Flatten is nothing here: pixels are already in a row.
struct Stage {
  enum class Core { none, linear, convolution };
  enum class Activation { none, relu, tanh, sigmoid };
  enum class Pool { none, max, average };

  Core core = Core::none;
  std::size_t block = 0;                                 ///< of Network::blocks(), if it is trained
  std::shared_ptr<const std::vector<float>> fixed = {};  ///< weights of a core that is not
  Conv2d convolution{};
  Activation activation = Activation::none;
  Pool pool = Pool::none;
  std::size_t pool_size = 1;
  Shape in, middle, out;  ///< middle: behind the core, before the pool

  /// Whether its core has parameters.
  [[nodiscard]] bool trained() const { return core != Core::none && !fixed; }
  /// Pixels of the core's output.
  [[nodiscard]] std::size_t positions() const {
    return static_cast<std::size_t>(middle.height) * static_cast<std::size_t>(middle.width);
  }
};

[[nodiscard]] std::vector<Stage> stages_of(const Network& network);

/// Where the patches of a convolution lie in its input, which has a border of zeros around it.
struct PatchGeometry {
  explicit PatchGeometry(const Stage& stage);

  kernel::PatchShape patch;
  std::vector<std::uint32_t> corners;  ///< of the patch under each output pixel, in floats
  std::size_t padding;
  Shape bordered;  ///< the input with its border

  /// Copies an image into the middle of a bordered one, whose border is left alone, and back.
  void put_inside(const float* image, float* with_border) const;
  void take_inside(const float* with_border, float* image) const;

 private:
  template <class Copy>
  void for_each_row(const Copy& copy) const;
};

}  // namespace sfumato::lab
