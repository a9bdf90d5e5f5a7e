#include "sfumato/nn/kernel/pool.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sfumato/nn/kernel/pool.cpp"
#include <hwy/foreach_target.h>
//
#include "sfumato/nn/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

void max_pool(const MaxPoolTask& t) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const std::size_t row = t.width * t.columns;
  for (std::size_t y = 0; y < t.out_height; ++y) {
    for (std::size_t x = 0; x < t.out_width; ++x) {
      const float* corner = t.in + y * t.size * row + x * t.size * t.columns;
      float* out = t.out + (y * t.out_width + x) * t.columns;
      std::int32_t* which = t.which + (y * t.out_width + x) * t.columns;
      for (std::size_t n = 0; n < t.columns; n += kLanes) {
        Vector most = hn::LoadU(d, corner + n);
        auto winner = hn::Zero(di);
        for (std::size_t i = 1; i < t.size * t.size; ++i) {
          const Vector v = hn::LoadU(d, corner + i / t.size * row + i % t.size * t.columns + n);
          const auto larger = hn::Gt(v, most);
          most = hn::IfThenElse(larger, v, most);
          winner = hn::IfThenElse(hn::RebindMask(di, larger),
                                  hn::Set(di, static_cast<std::int32_t>(i)), winner);
        }
        hn::StoreU(most, d, out + n);
        hn::StoreU(winner, di, which + n);
      }
    }
  }
}

template <class D, class T>
HWY_INLINE void separate_any(D d, const T* in, std::size_t count, std::size_t models,
                             T* const* out) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if (models == 2) {
    for (; i + kLanes <= count; i += kLanes) {
      hn::Vec<D> a, b;
      hn::LoadInterleaved2(d, in + 2 * i, a, b);
      hn::StoreU(a, d, out[0] + i);
      hn::StoreU(b, d, out[1] + i);
    }
  } else if (models == 4) {
    for (; i + kLanes <= count; i += kLanes) {
      hn::Vec<D> a, b, c, e;
      hn::LoadInterleaved4(d, in + 4 * i, a, b, c, e);
      hn::StoreU(a, d, out[0] + i);
      hn::StoreU(b, d, out[1] + i);
      hn::StoreU(c, d, out[2] + i);
      hn::StoreU(e, d, out[3] + i);
    }
  } else if (models == 1) {
    for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::LoadU(d, in + i), d, out[0] + i);
  }
#else
  (void)d;
#endif
  for (; i < count; ++i) {
    for (std::size_t m = 0; m < models; ++m) out[m][i] = in[i * models + m];
  }
}

void separate_floats(const float* in, std::size_t count, std::size_t models, float* const* out) {
  separate_any(Lanes(), in, count, models, out);
}
void separate_numbers(const std::int32_t* in, std::size_t count, std::size_t models,
                      std::int32_t* const* out) {
  separate_any(hn::RebindToSigned<Lanes>(), in, count, models, out);
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(max_pool);
HWY_EXPORT(separate_floats);
HWY_EXPORT(separate_numbers);

void max_pool(const MaxPoolTask& task) { HWY_DYNAMIC_DISPATCH(max_pool)(task); }
void separate(const float* in, std::size_t count, std::size_t models, float* const* out) {
  HWY_DYNAMIC_DISPATCH(separate_floats)(in, count, models, out);
}
void separate(const std::int32_t* in, std::size_t count, std::size_t models,
              std::int32_t* const* out) {
  HWY_DYNAMIC_DISPATCH(separate_numbers)(in, count, models, out);
}

}  // namespace sfumato::kernel
#endif
