#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_scale.hpp"
#include "lab/nn/training.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {

/// The noise of steps and the updates that it is part of: what a gradient becomes. All models of a group share one draw per parameter and step.
class NoisyStep {
 public:
  /// `noisy`: some policy has noise.
  NoisyStep(const Network& network, const Training& training, bool noisy);

  /// Draws the normals of a step: by the seed, or under the key. `unit` is what sums of gradients are multiplied with.
  void begin(std::uint64_t step, float unit);
  /// The metric of the step from what the steps before it have released; of a bundle that has one.
  void shape_noise(BundledModels& bundled);
  /// Moves the bundle's models by the gradients that it holds, with noise.
  void update(BundledModels& bundled);

 private:
  void update_clipped(BundledModels& bundled);
  void add_low_rank_noise(BundledModels& bundled, float rate);
  [[nodiscard]] std::vector<float> factor_noise(const NoiseShape& shape, double size);
  void factor_normals(std::span<float> values);
  [[nodiscard]] const float* fixed_variances(const BundledModels& bundled);
  void keep_released(BundledModels& bundled);

  const Network& network_;
  const Training& training_;
  bool noisy_;
  Stream normals_, factor_stream_;
  AlignedFloats drawn_;
  std::uint64_t step_ = 0;
  float unit_ = 1.0F;
  std::vector<float> velocity_;  ///< of a model whose metric is released, before the step
  std::vector<float> largest_weight_gradients_, largest_bias_gradients_;
  std::vector<NoiseScale> scales_, bias_scales_;
  std::map<const std::vector<float>*, AlignedFloats> fixed_;
};

}  // namespace sfumato::lab
