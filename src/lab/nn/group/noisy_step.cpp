#include "lab/nn/group/noisy_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/nn/private_metric.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {
namespace {

bool needs_largest(const BundledModels& bundled) {
  for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
    if (std::holds_alternative<PerLayerNoise>(bundled.policies[m].rule)) return true;
  }
  return false;
}

}  // namespace

NoisyStep::NoisyStep(const Network& network, const Training& training, bool noisy)
    : network_(network),
      training_(training),
      noisy_(noisy),
      normals_(StreamKey(training.noise_seed.value_or(training.seed), Purpose::noise)),
      factor_stream_(StreamKey(training.noise_seed.value_or(training.seed), Purpose::noise, {1})),
      drawn_(network.parameter_count()) {}

void NoisyStep::begin(std::uint64_t step, float unit) {
  step_ = step;
  unit_ = unit;
  if (!noisy_ || training_.hardened) return;
  const std::span<float> normals(drawn_.data(), network_.parameter_count());
  if (!training_.key) return normals_.fill_normal(step_, 0, normals);
  ReleaseBits bits(*training_.key, 2 * step_);
  std::array<double, 256> some{};
  for (std::size_t done = 0; done < normals.size(); done += some.size()) {
    const std::size_t count = std::min(some.size(), normals.size() - done);
    sfumato::fill_normal(bits, std::span(some).first(count));
    for (std::size_t i = 0; i < count; ++i) normals[done + i] = static_cast<float>(some[i]);
  }
}

void NoisyStep::shape_noise(BundledModels& bundled) {
  const std::vector<float> shape = step_ < warm_up_steps(training_.iterations)
                                       ? std::vector<float>(network_.parameter_count(), 1.0F)
                                       : bundled.released->shape();
  std::vector<float> inverse(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) inverse[i] = 1.0F / shape[i];
  std::copy(shape.begin(), shape.end(), bundled.shape.data());
  const NoisePolicy& policy = bundled.policies.front();
  bundled.bundle.clip({policy.private_noise().clipping()}, inverse);
}

void NoisyStep::update(BundledModels& bundled) {
  if (bundled.clipped) return update_clipped(bundled);
  const std::size_t models = bundled.bundle.models();
  scales_.assign(models, NoiseScale{});
  bias_scales_.assign(models, NoiseScale{});
  const double learning_rate = training_.rate_at(step_);
  const auto rate = static_cast<float>(learning_rate);
  for (std::size_t m = 0; noisy_ && m < models; ++m) {
    const NoisePolicy& policy = bundled.policies[m];
    const auto* fixed = std::get_if<FixedNoise>(&policy.rule);
    if (fixed == nullptr || !fixed->shape.factor) continue;
    // On the parameters, which step against their gradient.
    const double variance =
        static_cast<double>(noise_scales(policy, learning_rate, 0.0F, 0.0F).weights.fixed_factor);
    bundled.bundle.add_to_gradient(
        m, factor_noise(fixed->shape, -std::sqrt(variance) / learning_rate));
  }
  for (std::size_t b = 0; b < network_.blocks().size(); ++b) {
    const float* fixed = nullptr;
    if (noisy_) {
      largest_weight_gradients_.assign(models, 0.0F);
      largest_bias_gradients_.assign(models, 0.0F);
      // A pass over all parameters, made only where a rule asks for it.
      if (needs_largest(bundled)) {
        bundled.bundle.largest_gradients(b, largest_weight_gradients_, largest_bias_gradients_);
      }
      for (std::size_t m = 0; m < models; ++m) {
        const NoisePolicy& policy = bundled.policies[m];
        const BlockScales scales = noise_scales(policy, learning_rate, largest_weight_gradients_[m],
                                                largest_bias_gradients_[m]);
        scales_[m] = scales.weights;
        bias_scales_[m] = scales.biases;
      }
      fixed = fixed_variances(bundled);
    }
    if (bundled.by_velocity) {  // without noise, as the constructor has seen to
      bundled.bundle.update_by_velocity(b, static_cast<float>(training_.momentum), rate, scales_,
                                        nullptr, nullptr);
      continue;
    }
    bundled.bundle.update(b, rate, scales_, bias_scales_, noisy_ ? drawn_.data() : nullptr, fixed);
  }
}

/// The fixed variances of a bundle, if it has any.
const float* NoisyStep::fixed_variances(const BundledModels& bundled) {
  for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
    const NoiseShape* shape = shape_of(bundled.policies[m].rule);
    if (shape == nullptr) continue;
    AlignedFloats& padded = fixed_[shape->variances.get()];
    if (padded.size() == 0) {
      padded.require(shape->variances->size());
      std::copy(shape->variances->begin(), shape->variances->end(), padded.data());
    }
    return padded.data();
  }
  return nullptr;
}

/// The noise of clipped gradients is on their sum, which `unit_` is multiplied with.
void NoisyStep::update_clipped(BundledModels& bundled) {
  const std::size_t models = bundled.bundle.models();
  const auto rate = static_cast<float>(training_.rate_at(step_));
  if (bundled.released) {
    velocity_.resize(network_.parameter_count());
    bundled.bundle.get_velocity(0, velocity_);
  }
  const float* shape = bundled.released ? bundled.shape.data() : fixed_variances(bundled);
  // Hardened gradients come with their noise.
  const float* normals = training_.hardened ? nullptr : drawn_.data();
  for (std::size_t b = 0; b < network_.blocks().size(); ++b) {
    scales_.assign(models, NoiseScale{});
    for (std::size_t m = 0; m < models && normals != nullptr; ++m) {
      // Noise belongs to the sum of clipped gradients; the step takes the sum times `unit_`, and so its noise.
      const double deviation = static_cast<double>(unit_) * bundled.deviations[m][b];
      const auto variance = static_cast<float>(deviation * deviation);
      (shape == nullptr ? scales_[m].constant : scales_[m].fixed_factor) = variance;
    }
    if (bundled.by_velocity) {
      bundled.bundle.update_by_velocity(b, static_cast<float>(training_.momentum), rate, scales_,
                                        normals, shape);
    } else {
      bundled.bundle.update(b, rate, scales_, scales_, normals, shape);
    }
  }
  add_low_rank_noise(bundled, rate);
  if (bundled.released) keep_released(bundled);
}

/// noise_multiplier clip F y, y standard normal of the factor's rank: draws behind those of the parameters. To the step when it has its other noise,
/// on which the guarantee rests: nothing of a record is then rounded with this one before.
void NoisyStep::add_low_rank_noise(BundledModels& bundled, float rate) {
  for (std::size_t m = 0; m < bundled.members.size(); ++m) {
    const NoiseShape* shape = shape_of(bundled.policies[m].rule);
    if (shape == nullptr || !shape->factor) continue;
    bundled.bundle.add_to_step(
        m, factor_noise(*shape, static_cast<double>(unit_) * bundled.deviations[m][0]), rate,
        bundled.by_velocity);
  }
}

/// size F y
std::vector<float> NoisyStep::factor_noise(const NoiseShape& shape, double size) {
  const std::vector<std::vector<float>>& factor = *shape.factor;
  std::vector<float> noise(network_.parameter_count(), 0.0F);
  std::vector<float> y(factor.size());
  factor_normals(y);
  const auto scale = static_cast<float>(size);
  for (std::size_t k = 0; k < y.size(); ++k) {
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] += scale * y[k] * factor[k][i];
  }
  return noise;
}

void NoisyStep::factor_normals(std::span<float> values) {
  if (!training_.key) return factor_stream_.fill_normal(step_, 0, values);
  ReleaseBits bits(*training_.key, (std::uint64_t{1} << 63) + step_);
  std::vector<double> drawn(values.size());
  sfumato::fill_normal(bits, drawn);
  std::copy(drawn.begin(), drawn.end(), values.begin());
}

/// What the step has released: its noisy gradient is the velocity, less what was left of the one before.
void NoisyStep::keep_released(BundledModels& bundled) {
  const std::vector<float> before = velocity_;
  bundled.bundle.get_velocity(0, velocity_);
  std::vector<double> released(before.size()), variances(before.size());
  for (std::size_t i = 0; i < released.size(); ++i) {
    released[i] =
        static_cast<double>(velocity_[i]) - training_.momentum * static_cast<double>(before[i]);
  }
  const double deviation = static_cast<double>(unit_) * bundled.deviations[0][0];
  for (std::size_t i = 0; i < variances.size(); ++i) {
    variances[i] = deviation * deviation * static_cast<double>(bundled.shape.data()[i]);
  }
  bundled.released->add(released, variances);
}

}  // namespace sfumato::lab
