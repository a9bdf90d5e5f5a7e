#pragma once

#include <cstddef>
#include <vector>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {

/// Weights and biases (the last row) of one block of a bundle's parameters, and their gradients.
struct BlockStore {
  ParameterBlock block;
  std::size_t models;   ///< side by side in a row: all of the bundle, or one
  std::size_t copies;   ///< matrices, one after the other: one, or one per model
  std::size_t columns;  ///< of a row, padded
  AlignedFloats values, gradient;
  AlignedFloats total = {};                   ///< of the pieces of a batch, where it has several
  std::vector<double> clipped_total = {};     ///< the same of clipped gradients
  AlignedFloats velocity = {}, average = {};  ///< where they are used

  BlockStore(const ParameterBlock& of, std::size_t side_by_side, std::size_t matrices);

  [[nodiscard]] std::size_t matrix() const { return (block.inputs + 1) * columns; }
  [[nodiscard]] std::size_t copy_of(std::size_t model) const { return copies == 1 ? 0 : model; }
  [[nodiscard]] std::size_t lane_of(std::size_t model) const { return copies == 1 ? model : 0; }
  [[nodiscard]] const float* weights(std::size_t model) const {
    return values.data() + copy_of(model) * matrix();
  }
  [[nodiscard]] const float* bias(std::size_t model) const {
    return weights(model) + block.inputs * columns;
  }
  [[nodiscard]] float* weight_gradient(std::size_t model) {
    return gradient.data() + copy_of(model) * matrix();
  }
  [[nodiscard]] float* bias_gradient(std::size_t model) {
    return weight_gradient(model) + block.inputs * columns;
  }

  /// Adds the gradient of a piece of the batch to the total, which begins with the first.
  void add_to_total(bool first);
  /// The same in double precision, and what it has come to as the gradient.
  void add_to_clipped_total(bool first);
  void take_clipped_total();

  /// Calls move(number in the store, number in the network's order) for every parameter of a model.
  template <class Move>
  void for_each(std::size_t model, const Move& move) const {
    for (std::size_t row = 0; row <= block.inputs; ++row) {
      const std::size_t in_store = copy_of(model) * matrix() + row * columns + lane_of(model);
      const std::size_t in_order = block.offset + row * block.outputs;
      for (std::size_t n = 0; n < block.outputs; ++n) move(in_store + n * models, in_order + n);
    }
  }
};

}  // namespace sfumato::lab
