#include "lab/nn/kernel/elementwise.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/elementwise.cpp"
#include <hwy/foreach_target.h>
//
#include "lab/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

/// The lanes' outputs, from the first of the vector: lane / models.
HWY_INLINE auto output_of_lane(std::size_t models) {
  const hn::RebindToSigned<Lanes> di;
  alignas(64) std::int32_t index[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    index[lane] = static_cast<std::int32_t>(lane / models);
  return hn::IndicesFromVec(Lanes(), hn::Load(di, index));
}

template <bool kGradient, bool kFixed, bool kNoiseFirst>
void update_with_noise(const NoisyUpdate& t) {
  const Lanes d;
  const auto spread = output_of_lane(t.models);
  const Vector rate = hn::Set(d, -t.learning_rate);
  const Vector sign = hn::Set(d, t.learning_rate > 0.0F ? -1.0F : 1.0F);
  const std::size_t advance = kLanes / t.models;
  // With vectors of four lanes, those of models 4 .. 7 of eight come in turns.
  constexpr std::size_t kTurns = kLanesPerModelSet / kLanes;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const std::size_t first = turn * kLanes;
    const Vector factor = hn::LoadU(d, t.gradient_factor + first);
    const Vector floor = hn::LoadU(d, t.floor + first);
    const Vector square = hn::LoadU(d, t.square_factor + first);
    const Vector constant = hn::LoadU(d, t.constant + first);
    const Vector fixed_factor = hn::LoadU(d, t.fixed_factor + first);
    const Vector deviation = hn::Sqrt(constant);
    for (std::size_t row = 0; row < t.rows; ++row) {
      float* w = t.w + row * t.columns;
      const float* g = t.g + row * t.columns;
      const float* z = t.z + row * t.outputs;
      const float* fixed = kFixed ? t.fixed + row * t.outputs : nullptr;
      for (std::size_t n = first; n < t.columns; n += kLanesPerModelSet) {
        // Models of one group share the normals: one number per weight, spread over the columns of its models.
        const std::size_t output = advance == 0 ? n / t.models : n / kLanes * advance;
        const Vector gradient = hn::LoadU(d, g + n);
        const Vector normal = hn::TableLookupLanes(hn::LoadU(d, z + output), spread);
        Vector scale = deviation;
        if constexpr (kGradient || kFixed) {
          Vector variance = constant;
          if constexpr (kGradient) {
            variance = hn::MulAdd(factor, hn::Max(hn::Abs(gradient), floor), variance);
            variance = hn::MulAdd(square, hn::Mul(gradient, gradient), variance);
          }
          if constexpr (kFixed) {
            const Vector v = hn::TableLookupLanes(hn::LoadU(d, fixed + output), spread);
            variance = hn::MulAdd(fixed_factor, v, variance);
          }
          scale = hn::Sqrt(variance);
        }
        const Vector before = hn::LoadU(d, w + n);
        // Released models: gradient + noise is rounded once, so that what is published is a rounding of the noisy sum
        // (Spec §24.1). Elsewhere the gradient moves the weight first: a bit more accurate, and nothing rests on it.
        if constexpr (kNoiseFirst) {
          const Vector noisy = hn::MulAdd(hn::Mul(scale, sign), normal, gradient);
          hn::StoreU(hn::MulAdd(rate, noisy, before), d, w + n);
        } else {
          const Vector moved = hn::MulAdd(rate, gradient, before);
          hn::StoreU(hn::MulAdd(scale, normal, moved), d, w + n);
        }
      }
    }
  }
}

void noisy_update(const NoisyUpdate& t) {
  const Lanes d;
  if (t.z == nullptr) {
    const Vector rate = hn::Set(d, -t.learning_rate);
    for (std::size_t i = 0; i < t.rows * t.columns; i += kLanes) {
      hn::StoreU(hn::MulAdd(rate, hn::LoadU(d, t.g + i), hn::LoadU(d, t.w + i)), d, t.w + i);
    }
    return;
  }
  if (t.noise_first) {
    if (t.fixed != nullptr) return update_with_noise<false, true, true>(t);
    return update_with_noise<false, false, true>(t);
  }
  bool gradient = false;
  for (const float factor : t.gradient_factor) gradient |= factor != 0.0F;
  for (const float factor : t.square_factor) gradient |= factor != 0.0F;
  if (t.fixed != nullptr) return update_with_noise<true, true, false>(t);
  if (gradient) return update_with_noise<true, false, false>(t);
  update_with_noise<false, false, false>(t);
}

void largest_absolute(const float* g, std::size_t count, float* largest) {
  const Lanes d;
  for (std::size_t first = 0; first < kLanesPerModelSet; first += kLanes) {
    Vector most = hn::LoadU(d, largest + first), other = most;
    std::size_t i = first;
    for (; i + 2 * kLanesPerModelSet <= count; i += 2 * kLanesPerModelSet) {
      most = hn::Max(most, hn::Abs(hn::LoadU(d, g + i)));
      other = hn::Max(other, hn::Abs(hn::LoadU(d, g + i + kLanesPerModelSet)));
    }
    for (; i < count; i += kLanesPerModelSet) most = hn::Max(most, hn::Abs(hn::LoadU(d, g + i)));
    hn::StoreU(hn::Max(most, other), d, largest + first);
  }
}

void expand_pixels(const std::uint8_t* pixels, const float* scale, const float* shift,
                   std::size_t count, float* x) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const hn::Rebind<std::uint8_t, Lanes> du;
  for (; i + kLanes <= count; i += kLanes) {
    const Vector v = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(du, pixels + i)));
    hn::StoreU(hn::MulAdd(v, hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, x + i);
  }
#endif
  // Fused in the tail too, for the same bits wherever a number stands.
  for (; i < count; ++i) x[i] = std::fma(static_cast<float>(pixels[i]), scale[i], shift[i]);
}

void relu(float* values, std::size_t count) {
  const Lanes d;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Vector v = hn::LoadU(d, values + i);
    hn::StoreU(hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), v), d, values + i);
  }
}

void relu_backward(const float* output, float* gradient, std::size_t count) {
  const Lanes d;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const auto on = hn::Gt(hn::LoadU(d, output + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(on, hn::LoadU(d, gradient + i)), d, gradient + i);
  }
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(noisy_update);
HWY_EXPORT(largest_absolute);
HWY_EXPORT(expand_pixels);
HWY_EXPORT(relu);
HWY_EXPORT(relu_backward);

void noisy_update(const NoisyUpdate& task) { HWY_DYNAMIC_DISPATCH(noisy_update)(task); }
void largest_absolute(const float* g, std::size_t count, float largest[kLanesPerModelSet]) {
  HWY_DYNAMIC_DISPATCH(largest_absolute)(g, count, largest);
}
void expand_pixels(const std::uint8_t* pixels, const float* scale, const float* shift,
                   std::size_t count, float* x) {
  HWY_DYNAMIC_DISPATCH(expand_pixels)(pixels, scale, shift, count, x);
}
void relu(float* values, std::size_t count) { HWY_DYNAMIC_DISPATCH(relu)(values, count); }
void relu_backward(const float* output, float* gradient, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(relu_backward)(output, gradient, count);
}

}  // namespace sfumato::kernel
#endif
