#include "sfumato/nn/kernel/pool.hpp"

#include "sfumato/core/vector_clones.hpp"

namespace sfumato::kernel {
namespace {

template <std::size_t kModels, class T>
inline __attribute__((always_inline)) void separate_models(const T* in, std::size_t count,
                                                           T* const* out) {
  T* to[kModels];
  for (std::size_t m = 0; m < kModels; ++m) to[m] = out[m];
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t m = 0; m < kModels; ++m) to[m][i] = in[i * kModels + m];
  }
}

template <class T>
inline __attribute__((always_inline)) void separate_any(const T* in, std::size_t count,
                                                        std::size_t models, T* const* out) {
  if (models == 8) return separate_models<8>(in, count, out);
  if (models == 4) return separate_models<4>(in, count, out);
  if (models == 2) return separate_models<2>(in, count, out);
  separate_models<1>(in, count, out);
}

}  // namespace

SFUMATO_VECTOR_CLONES
void max_pool(const MaxPoolTask& t) {
  const std::size_t row = t.width * t.columns;
  for (std::size_t y = 0; y < t.out_height; ++y) {
    for (std::size_t x = 0; x < t.out_width; ++x) {
      const float* __restrict corner = t.in + y * t.size * row + x * t.size * t.columns;
      float* __restrict out = t.out + (y * t.out_width + x) * t.columns;
      std::int32_t* __restrict which = t.which + (y * t.out_width + x) * t.columns;
      if (t.size == 2) {
        const float *b = corner + t.columns, *c = corner + row, *d = c + t.columns;
        for (std::size_t n = 0; n < t.columns; ++n) {
          const bool right = b[n] > corner[n], lower_right = d[n] > c[n];
          const float top = right ? b[n] : corner[n], bottom = lower_right ? d[n] : c[n];
          const std::int32_t at_top = right ? 1 : 0, at_bottom = lower_right ? 3 : 2;
          out[n] = bottom > top ? bottom : top;
          which[n] = bottom > top ? at_bottom : at_top;
        }
        continue;
      }
      for (std::size_t n = 0; n < t.columns; ++n) out[n] = corner[n], which[n] = 0;
      for (std::size_t i = 1; i < t.size * t.size; ++i) {
        const float* pixel = corner + i / t.size * row + i % t.size * t.columns;
        for (std::size_t n = 0; n < t.columns; ++n) {
          which[n] = pixel[n] > out[n] ? static_cast<std::int32_t>(i) : which[n];
          out[n] = pixel[n] > out[n] ? pixel[n] : out[n];
        }
      }
    }
  }
}

SFUMATO_VECTOR_CLONES
void separate(const float* in, std::size_t count, std::size_t models, float* const* out) {
  separate_any(in, count, models, out);
}

SFUMATO_VECTOR_CLONES
void separate(const std::int32_t* in, std::size_t count, std::size_t models,
              std::int32_t* const* out) {
  separate_any(in, count, models, out);
}

void interleave(const float* in, std::size_t count, std::size_t models, std::size_t model,
                float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i * models + model] = in[i];
}

}  // namespace sfumato::kernel
