#pragma once

#include <optional>
#include <vector>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/bundle.hpp"
#include "lab/nn/gradient_moments.hpp"
#include "lab/nn/model_record.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/training.hpp"

namespace sfumato::lab {

/// Some models of a group, side by side.
struct BundledModels {
  std::vector<std::size_t> members;  ///< numbers of the bundle's models
  Bundle bundle;
  std::vector<NoisePolicy> policies = {};  ///< by model
  bool clipped = false, by_velocity = false;
  std::vector<std::vector<double>> deviations =
      {};  ///< of clipped gradients' noise: by model and block
  std::optional<GradientMoments> released =
      {};                    ///< of a metric that learns, which has its bundle alone
  AlignedFloats shape = {};  ///< of such a metric: variances of the noise of this step
};

/// Whether a step goes along a velocity: with momentum, and where the noisy gradient is looked at.
[[nodiscard]] bool uses_velocity(const NoisePolicy& policy, const Training& training);

/// The models of a group in bundles, all with the initial parameters of the seed. Which models stand together changes no bit of them.
[[nodiscard]] std::vector<BundledModels> bundle_models(const Network& network,
                                                       const std::vector<NoisePolicy>& policies,
                                                       const std::vector<ModelRecord>& models,
                                                       const Training& training);

}  // namespace sfumato::lab
