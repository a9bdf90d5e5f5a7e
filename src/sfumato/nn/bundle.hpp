#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sfumato/nn/bundle/block_store.hpp"
#include "sfumato/nn/bundle/passes.hpp"
#include "sfumato/nn/bundle/rows.hpp"
#include "sfumato/nn/network.hpp"
#include "sfumato/nn/noise_scale.hpp"

namespace sfumato {

/// One, two, four or eight models of one network that see the same minibatches.
///
/// The first layer with parameters is one product for all models together: its columns are (output,
/// model), models fastest. The layers behind it are worked on model by model. No number of a model
/// depends on how many others are in its bundle, nor on which: every sum runs in an order of its own.
///
/// Single precision; same bits for AVX2 and AVX-512. One thread at a time.
class Bundle {
 public:
  /// Throws   InvalidArgument if `models` is not 1, 2, 4 or 8.
  Bundle(const Network& network, std::size_t models);

  [[nodiscard]] std::size_t models() const { return models_; }
  /// Whether the first layer is linear, on the inputs themselves.
  [[nodiscard]] bool reads_sparse_rows() const { return passes_.reads_sparse_rows(); }

  /// Parameters, and gradients of the last compute_gradients, in the order of the network.
  void set_parameters(std::size_t model, std::span<const float> values);
  void get_parameters(std::size_t model, std::span<float> values) const;
  void get_gradient(std::size_t model, std::span<float> values) const;

  /// The gradient of  sum over rows of row weight times cross-entropy, for every model. `losses`, if not
  /// null, receives the cross-entropy of row r under model m at [m count + r].
  void compute_gradients(const BatchRows& rows, float* losses);

  /// Cross-entropy (at [m count + r]) and the index of the largest logit (the same), no gradient.
  void evaluate(const InputRows& inputs, const std::uint8_t* labels, float* losses,
                std::uint8_t* predicted);

  /// The largest |gradient| of the weights and of the biases of block `block`, for each model.
  void largest_gradients(std::size_t block, std::span<float> weights,
                         std::span<float> biases) const;

  /// x <- x - learning_rate g + noise in block `block`, all models. `scales` has one entry per model,
  /// `bias_scales` those of the biases. `normals` and `fixed` are those of the whole network, in its
  /// order, with at least eight floats behind them; null means no noise, no fixed variances.
  void update(std::size_t block, float learning_rate, std::span<const NoiseScale> scales,
              std::span<const NoiseScale> bias_scales, const float* normals, const float* fixed);

 private:
  std::size_t models_;
  Passes passes_;
  std::vector<BlockStore> blocks_;
};

}  // namespace sfumato
