#include "sfumato/nn/kernel/elementwise.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sfumato/nn/kernel/elementwise.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/aligned_allocator.h>
#include <hwy/contrib/math/math-inl.h>

#include "sfumato/nn/kernel/lanes-inl.h"

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

template <bool kGradient, bool kFixed>
void update_with_noise(const NoisyUpdate& t) {
  const Lanes d;
  const auto spread = output_of_lane(t.models);
  const Vector rate = hn::Set(d, -t.learning_rate);
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
        const Vector moved = hn::MulAdd(rate, gradient, hn::LoadU(d, w + n));
        hn::StoreU(hn::MulAdd(scale, normal, moved), d, w + n);
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
  bool gradient = false;
  for (const float factor : t.gradient_factor) gradient |= factor != 0.0F;
  for (const float factor : t.square_factor) gradient |= factor != 0.0F;
  if (t.fixed != nullptr) return update_with_noise<true, true>(t);
  if (gradient) return update_with_noise<true, false>(t);
  update_with_noise<false, false>(t);
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

#if HWY_TARGET != HWY_SCALAR
/// Eight (or four) rows of as many columns.
HWY_INLINE void transpose_block(const float* from, std::size_t from_stride, float* to,
                                std::size_t to_stride) {
  const Lanes d;
  const hn::Repartition<std::uint64_t, Lanes> d64;
  Vector a[kLanes], b[kLanes];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) {
    a[i] = hn::LoadU(d, from + i * from_stride);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; i += 2) {
    b[i] = hn::InterleaveLower(d, a[i], a[i + 1]);
    b[i + 1] = hn::InterleaveUpper(d, a[i], a[i + 1]);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; i += 4) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < 2; ++j) {
      const auto low = hn::BitCast(d64, b[i + j]), high = hn::BitCast(d64, b[i + 2 + j]);
      a[i + 2 * j] = hn::BitCast(d, hn::InterleaveLower(d64, low, high));
      a[i + 2 * j + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, low, high));
    }
  }
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET <= HWY_AVX3
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 4; ++i) {
    b[i] = hn::ConcatLowerLower(d, a[i + 4], a[i]);
    b[i + 4] = hn::ConcatUpperUpper(d, a[i + 4], a[i]);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) hn::StoreU(b[i], d, to + i * to_stride);
#else
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) hn::StoreU(a[i], d, to + i * to_stride);
#endif
}
#endif

void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  const std::size_t whole_rows = 0, whole_columns = 0;
#else
  const std::size_t whole_rows = rows - rows % kLanes, whole_columns = columns - columns % kLanes;
  for (std::size_t i = 0; i < whole_rows; i += kLanes) {
    for (std::size_t j = 0; j < whole_columns; j += kLanes) {
      transpose_block(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
    }
  }
#endif
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
      to[j * to_stride + i] = from[i * from_stride + j];
    }
  }
}

/// A block of kLanes rows, transposed: `block` is stride x kLanes, one vector per class. Lanes are rows,
/// so no sum runs across a vector.
HWY_INLINE void softmax_block(const SoftmaxRows& t, std::size_t first, std::size_t rows,
                              float* block) {
  const Lanes d;
  Vector top = hn::Load(d, block);
  for (std::size_t n = 1; n < t.classes; ++n) top = hn::Max(top, hn::Load(d, block + n * kLanes));
  alignas(64) float label_logit[kLanes], highest[kLanes], total[kLanes], weight[kLanes] = {};
  for (std::size_t r = 0; r < rows; ++r) {
    label_logit[r] = block[t.labels[first + r] * kLanes + r];
    weight[r] = t.weights[first + r];
  }
  Vector sum = hn::Zero(d);
  for (std::size_t n = 0; n < t.classes; ++n) {
    const Vector e = hn::Exp(d, hn::Sub(hn::Load(d, block + n * kLanes), top));
    hn::Store(e, d, block + n * kLanes);
    sum = hn::Add(sum, e);
  }
  const Vector factor = hn::Div(hn::Load(d, weight), sum);
  for (std::size_t n = 0; n < t.classes; ++n) {
    hn::Store(hn::Mul(hn::Load(d, block + n * kLanes), factor), d, block + n * kLanes);
  }
  for (std::size_t r = 0; r < rows; ++r) block[t.labels[first + r] * kLanes + r] -= weight[r];
  if (t.losses == nullptr) return;
  hn::Store(top, d, highest);
  hn::Store(sum, d, total);
  for (std::size_t r = 0; r < rows; ++r) {
    t.losses[first + r] = std::log(total[r]) - (label_logit[r] - highest[r]);
  }
}

void softmax_rows(const SoftmaxRows& t) {
  auto block = hwy::AllocateAligned<float>(t.stride * kLanes);
  const Lanes d;
  for (std::size_t n = 0; n < t.stride; ++n) hn::Store(hn::Zero(d), d, block.get() + n * kLanes);
  for (std::size_t first = 0; first < t.rows; first += kLanes) {
    const std::size_t rows = t.rows - first < kLanes ? t.rows - first : kLanes;
    float* logits = t.logits + first * t.stride;
    transpose(logits, t.stride, rows, t.classes, block.get(), kLanes);
    softmax_block(t, first, rows, block.get());
    transpose(block.get(), kLanes, t.stride, rows, logits, t.stride);
    for (std::size_t n = t.classes; n < t.stride; ++n) {
      for (std::size_t r = 0; r < rows; ++r) logits[r * t.stride + n] = 0.0F;
    }
  }
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(noisy_update);
HWY_EXPORT(largest_absolute);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(expand_pixels);
HWY_EXPORT(transpose);

void noisy_update(const NoisyUpdate& task) { HWY_DYNAMIC_DISPATCH(noisy_update)(task); }
void largest_absolute(const float* g, std::size_t count, float largest[kLanesPerModelSet]) {
  HWY_DYNAMIC_DISPATCH(largest_absolute)(g, count, largest);
}
void softmax_rows(const SoftmaxRows& task) { HWY_DYNAMIC_DISPATCH(softmax_rows)(task); }
void expand_pixels(const std::uint8_t* pixels, const float* scale, const float* shift,
                   std::size_t count, float* x) {
  HWY_DYNAMIC_DISPATCH(expand_pixels)(pixels, scale, shift, count, x);
}
void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride) {
  HWY_DYNAMIC_DISPATCH(transpose)(from, from_stride, rows, columns, to, to_stride);
}

}  // namespace sfumato::kernel
#endif
