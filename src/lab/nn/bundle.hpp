#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/bundle/block_store.hpp"
#include "lab/nn/bundle/passes.hpp"
#include "lab/nn/bundle/row_clips.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_scale.hpp"

namespace sfumato::lab {

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
  [[nodiscard]] bool clips() const { return passes_.clips(); }

  /// Parameters, and gradients of the last compute_gradients, in the order of the network.
  void set_parameters(std::size_t model, std::span<const float> values);
  void get_parameters(std::size_t model, std::span<float> values) const;
  void get_gradient(std::size_t model, std::span<float> values) const;
  /// Adds to the gradient of the last compute_gradients.
  void add_to_gradient(std::size_t model, std::span<const float> values);
  /// The same when the step was made: moves the parameters, and their velocity, by what the gradient lacked.
  void add_to_step(std::size_t model, std::span<const float> values, float learning_rate,
                   bool by_velocity);

  /// From now on compute_gradients clips the gradient of every record, model by model, before it counts with its row weight. With
  /// `inverse_variances`, one for each parameter in the network's order, norms are those of clipping.hpp's metric.
  /// Throws   InvalidArgument if there is not one clipping per model, with one clip or one per block, all positive and finite.
  void clip(std::vector<Clipping> by_model, std::span<const float> inverse_variances = {});
  /// Records of the last compute_gradients that count nothing because their gradient was not finite, by model.
  [[nodiscard]] std::span<const std::uint64_t> zeroed() const { return passes_.zeroed(); }

  /// The gradient of  sum over rows of row weight times cross-entropy, for every model. `losses`, if not
  /// null, receives the cross-entropy of row r under model m at [m count + r].
  void compute_gradients(const BatchRows& rows, float* losses);

  /// Cross-entropy (at [m count + r]) and the index of the largest logit (the same), no gradient.
  void evaluate(const InputRows& inputs, const std::uint8_t* labels, float* losses,
                std::uint8_t* predicted);

  /// What layer `block` with parameters reads of each row in model 0: a row of its input's size after the other, an image pixel by pixel.
  void block_inputs(const InputRows& inputs, std::size_t block, float* rows);

  /// The largest |gradient| of the weights and of the biases of block `block`, for each model.
  void largest_gradients(std::size_t block, std::span<float> weights,
                         std::span<float> biases) const;

  /// x <- x - learning_rate g + noise in block `block`, all models; where gradients are clipped, the noise comes first (kernel::NoisyUpdate). `scales` has one entry per model,
  /// `bias_scales` those of the biases. `normals` and `fixed` are those of the whole network, in its
  /// order, with at least eight floats behind them; null means no noise, no fixed variances.
  void update(std::size_t block, float learning_rate, std::span<const NoiseScale> scales,
              std::span<const NoiseScale> bias_scales, const float* normals, const float* fixed);

  /// velocity <- momentum velocity + g + noise in block `block`, then x <- x - learning_rate velocity. Noise as for update(), but on the gradient.
  /// Velocities start at zero.
  void update_by_velocity(std::size_t block, float momentum, float learning_rate,
                          std::span<const NoiseScale> scales, const float* normals,
                          const float* fixed);
  void set_velocity(std::size_t model, std::span<const float> values);
  void get_velocity(std::size_t model, std::span<float> values);

  /// The mean of the iterates: average <- average + (x - average) / number, the first being number 1.
  void add_to_average(std::uint64_t number);
  void set_average(std::size_t model, std::span<const float> values);
  void get_average(std::size_t model, std::span<float> values);
  /// x <- average.
  void adopt_average();

 private:
  /// What update() does, to any of the arrays of a block.
  void noisy_step(BlockStore& store, float* values, float learning_rate,
                  std::span<const NoiseScale> scales, std::span<const NoiseScale> bias_scales,
                  const float* normals, const float* fixed);

  std::size_t models_;
  Passes passes_;
  std::vector<BlockStore> blocks_;
};

}  // namespace sfumato::lab
