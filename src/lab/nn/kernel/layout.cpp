#include "lab/nn/kernel/layout.hpp"

#include "lab/nn/kernel/matrix.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/nn/kernel/layout.cpp"
#include <hwy/foreach_target.h>
//
#include "lab/nn/kernel/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sfumato::kernel::HWY_NAMESPACE {

void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride) {
  const auto at_most = [](std::size_t whole, std::size_t from_here) {
    if (whole <= from_here) return std::size_t{0};
    return whole - from_here < kLanes ? whole - from_here : kLanes;
  };
  for (std::size_t i = 0; i < padded(rows); i += kLanes) {
    for (std::size_t j = 0; j < columns; j += kLanes) {
      transpose_tile(from + i * from_stride + j, from_stride, at_most(rows, i), at_most(columns, j),
                     to + j * to_stride + i, to_stride);
    }
  }
}

/// Vectors of the models that are side by side at `joined`, and back.
template <std::size_t kModels, class D, class T, class V>
HWY_INLINE void load_models(D d, const T* joined, V* v) {
  if constexpr (kModels == 1) v[0] = hn::LoadU(d, joined);
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kModels == 2) hn::LoadInterleaved2(d, joined, v[0], v[1]);
  if constexpr (kModels == 4) hn::LoadInterleaved4(d, joined, v[0], v[1], v[2], v[3]);
  if constexpr (kModels == 8 && kLanes == 8) {
    for (std::size_t m = 0; m < 8; ++m) v[m] = hn::LoadU(d, joined + m * 8);
    transpose_lanes(d, v);
  }
#endif
}
template <std::size_t kModels, class D, class T, class V>
HWY_INLINE void store_models(D d, V* v, T* joined) {
  if constexpr (kModels == 1) hn::StoreU(v[0], d, joined);
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kModels == 2) hn::StoreInterleaved2(v[0], v[1], d, joined);
  if constexpr (kModels == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, joined);
  if constexpr (kModels == 8 && kLanes == 8) {
    transpose_lanes(d, v);
    for (std::size_t m = 0; m < 8; ++m) hn::StoreU(v[m], d, joined + m * 8);
  }
#endif
}

/// Whether the two functions above know this many models.
constexpr bool has_vectors(std::size_t models) {
#if HWY_TARGET == HWY_SCALAR
  return models == 1;
#else
  return models != 8 || kLanes == 8;
#endif
}

template <std::size_t kModels, class D, class T>
void separate_models(D d, const T* joined, const ModelLayout& t, T* const* apart) {
  for (std::size_t p = 0; p < t.pixels; ++p, joined += t.columns) {
    for (std::size_t c = 0; c < padded(t.channels); c += kLanes) {
      if constexpr (has_vectors(kModels)) {
        hn::Vec<D> v[kModels];
        load_models<kModels>(d, joined + c * kModels, v);
        if (c + kLanes > t.channels) {
          const auto mask = hn::FirstN(d, t.channels > c ? t.channels - c : 0);
          for (auto& of_model : v) of_model = hn::IfThenElseZero(mask, of_model);
        }
        for (std::size_t m = 0; m < kModels; ++m) hn::StoreU(v[m], d, apart[m] + p * t.stride + c);
      } else {
        for (std::size_t i = c; i < c + kLanes; ++i) {
          for (std::size_t m = 0; m < kModels; ++m) {
            apart[m][p * t.stride + i] = i < t.channels ? joined[i * kModels + m] : T{0};
          }
        }
      }
    }
  }
}

template <std::size_t kModels>
void join_models(const float* const* apart, const ModelLayout& t, float* joined) {
  const Lanes d;
  for (std::size_t p = 0; p < t.pixels; ++p, joined += t.columns) {
    for (std::size_t c = 0; c < padded(t.channels); c += kLanes) {
      if constexpr (has_vectors(kModels)) {
        Vector v[kModels];
        for (std::size_t m = 0; m < kModels; ++m) v[m] = hn::LoadU(d, apart[m] + p * t.stride + c);
        if (c + kLanes > t.channels) {
          const auto mask = hn::FirstN(d, t.channels > c ? t.channels - c : 0);
          for (Vector& of_model : v) of_model = hn::IfThenElseZero(mask, of_model);
        }
        store_models<kModels>(d, v, joined + c * kModels);
      } else {
        for (std::size_t i = c; i < c + kLanes; ++i) {
          for (std::size_t m = 0; m < kModels; ++m) {
            joined[i * kModels + m] = i < t.channels ? apart[m][p * t.stride + i] : 0.0F;
          }
        }
      }
    }
  }
}

template <class D, class T>
HWY_INLINE void separate_any(D d, const T* joined, ModelLayout t, T* const* apart) {
  if (t.columns == t.channels * t.models && t.stride == t.channels) {  // one long pixel
    t.channels *= t.pixels;
    t.pixels = 1;
  }
  if (t.models == 1) return separate_models<1>(d, joined, t, apart);
  if (t.models == 2) return separate_models<2>(d, joined, t, apart);
  if (t.models == 4) return separate_models<4>(d, joined, t, apart);
  separate_models<8>(d, joined, t, apart);
}
void separate_floats(const float* joined, const ModelLayout& t, float* const* apart) {
  separate_any(Lanes(), joined, t, apart);
}
void separate_numbers(const std::int32_t* joined, const ModelLayout& t,
                      std::int32_t* const* apart) {
  separate_any(hn::RebindToSigned<Lanes>(), joined, t, apart);
}

void join(const float* const* apart, const ModelLayout& t, float* joined) {
  if (t.models == 1) return join_models<1>(apart, t, joined);
  if (t.models == 2) return join_models<2>(apart, t, joined);
  if (t.models == 4) return join_models<4>(apart, t, joined);
  join_models<8>(apart, t, joined);
}

}  // namespace sfumato::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sfumato::kernel {

HWY_EXPORT(transpose);
HWY_EXPORT(separate_floats);
HWY_EXPORT(separate_numbers);
HWY_EXPORT(join);

void transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_stride) {
  HWY_DYNAMIC_DISPATCH(transpose)(from, from_stride, rows, columns, to, to_stride);
}
void separate(const float* joined, const ModelLayout& layout, float* const* apart) {
  HWY_DYNAMIC_DISPATCH(separate_floats)(joined, layout, apart);
}
void separate(const std::int32_t* joined, const ModelLayout& layout, std::int32_t* const* apart) {
  HWY_DYNAMIC_DISPATCH(separate_numbers)(joined, layout, apart);
}
void join(const float* const* apart, const ModelLayout& layout, float* joined) {
  HWY_DYNAMIC_DISPATCH(join)(apart, layout, joined);
}

}  // namespace sfumato::kernel
#endif
