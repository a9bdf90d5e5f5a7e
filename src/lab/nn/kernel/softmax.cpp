#include "lab/nn/kernel/softmax.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/softmax.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/aligned_allocator.h>
#include <hwy/contrib/math/math-inl.h>

#include "lab/nn/kernel/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

/// `rows` rows from `first` on, transposed: `block` is stride x kLanes, one vector per class. Lanes are
/// rows, so no sum runs across a vector.
HWY_INLINE void softmax_block(const SoftmaxRows& t, std::size_t first, std::size_t rows,
                              float* block) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  alignas(64) std::int32_t labels[kLanes] = {};
  alignas(64) float weights[kLanes] = {};
  for (std::size_t r = 0; r < rows; ++r) {
    labels[r] = t.labels[first + r];
    weights[r] = t.row_weights[first + r];
  }
  const auto label = hn::Load(di, labels);
  const auto is_label = [&](std::size_t n) {
    return hn::RebindMask(d, hn::Eq(label, hn::Set(di, static_cast<std::int32_t>(n))));
  };
  const Vector weight = hn::Load(d, weights);
  Vector top = hn::Load(d, block), label_logit = top;
  for (std::size_t n = 1; n < t.classes; ++n) {
    const Vector logit = hn::Load(d, block + n * kLanes);
    top = hn::Max(top, logit);
    label_logit = hn::IfThenElse(is_label(n), logit, label_logit);
  }
  Vector sum = hn::Zero(d);
  for (std::size_t n = 0; n < t.classes; ++n) {
    const Vector e = hn::Exp(d, hn::Sub(hn::Load(d, block + n * kLanes), top));
    hn::Store(e, d, block + n * kLanes);
    sum = hn::Add(sum, e);
  }
  const Vector factor = hn::Div(weight, sum);
  for (std::size_t n = 0; n < t.classes; ++n) {
    Vector share = hn::Mul(hn::Load(d, block + n * kLanes), factor);
    hold(share);  // rounded before the subtraction, with every instruction set
    hn::Store(hn::Sub(share, hn::IfThenElseZero(is_label(n), weight)), d, block + n * kLanes);
  }
  if (t.losses == nullptr) return;
  alignas(64) float below[kLanes], total[kLanes];
  hn::Store(hn::Sub(label_logit, top), d, below);
  hn::Store(sum, d, total);
  for (std::size_t r = 0; r < rows; ++r) t.losses[first + r] = std::log(total[r]) - below[r];
}

void softmax_rows(const SoftmaxRows& t) {
  const Lanes d;
  constexpr std::size_t kFew = 64;
  alignas(64) float few[kFew * kLanes];
  hwy::AlignedFreeUniquePtr<float[]> many;
  if (t.stride > kFew) many = hwy::AllocateAligned<float>(t.stride * kLanes);
  float* block = many ? many.get() : few;
  for (std::size_t n = t.classes; n < t.stride; ++n) hn::Store(hn::Zero(d), d, block + n * kLanes);
  for (std::size_t first = 0; first < t.rows; first += kLanes) {
    const std::size_t rows = t.rows - first < kLanes ? t.rows - first : kLanes;
    for (std::size_t n = 0; n < t.classes; n += kLanes) {
      const std::size_t classes = t.classes - n < kLanes ? t.classes - n : kLanes;
      transpose_tile(t.logits + first * t.stride + n, t.stride, rows, classes, block + n * kLanes,
                     kLanes);
    }
    softmax_block(t, first, rows, block);
    for (std::size_t n = 0; n < t.stride; n += kLanes) {
      transpose_tile(block + n * kLanes, kLanes, kLanes, rows, t.gradient + first * t.stride + n,
                     t.stride);
    }
  }
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(softmax_rows);

void softmax_rows(const SoftmaxRows& task) { HWY_DYNAMIC_DISPATCH(softmax_rows)(task); }

}  // namespace sfumato::kernel
#endif
