#include "lab/images/features/lane_fourier.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/core/vector_clones.hpp"

namespace sfumato::lab {
namespace {

constexpr std::size_t kLanes = kFourierLanes;

/// What one stage reads and writes: radix x m x s numbers, twiddles of each p < m.
struct StageTask {
  const LaneComplex* in;
  LaneComplex* out;
  std::size_t m, s;
  const float *cosines, *sines;
  float sign;  ///< of the imaginary parts: -1 for the way back
};

/// out = (a + i b) times (c + i d), lane by lane.
inline void store_product(const float* a, const float* b, float c, float d, LaneComplex& out) {
  for (std::size_t l = 0; l < kLanes; ++l) {
    out.re[l] = a[l] * c - b[l] * d;
    out.im[l] = a[l] * d + b[l] * c;
  }
}

SFUMATO_VECTOR_CLONES void stage2(const StageTask& t) {
  for (std::size_t p = 0; p < t.m; ++p) {
    const float c = t.cosines[2 * p + 1], d = t.sign * t.sines[2 * p + 1];
    for (std::size_t q = 0; q < t.s; ++q) {
      const LaneComplex &x0 = t.in[q + t.s * p], &x1 = t.in[q + t.s * (p + t.m)];
      LaneComplex &y0 = t.out[q + t.s * 2 * p], &y1 = t.out[q + t.s * (2 * p + 1)];
      float re[kLanes], im[kLanes];
      for (std::size_t l = 0; l < kLanes; ++l) {
        y0.re[l] = x0.re[l] + x1.re[l];
        y0.im[l] = x0.im[l] + x1.im[l];
        re[l] = x0.re[l] - x1.re[l];
        im[l] = x0.im[l] - x1.im[l];
      }
      store_product(re, im, c, d, y1);
    }
  }
}

SFUMATO_VECTOR_CLONES void stage3(const StageTask& t) {
  const float root = t.sign * static_cast<float>(-0.5 * std::numbers::sqrt3);
  for (std::size_t p = 0; p < t.m; ++p) {
    const float* c = t.cosines + 3 * p;
    const float d1 = t.sign * t.sines[3 * p + 1], d2 = t.sign * t.sines[3 * p + 2];
    for (std::size_t q = 0; q < t.s; ++q) {
      const LaneComplex &x0 = t.in[q + t.s * p], &x1 = t.in[q + t.s * (p + t.m)],
                        &x2 = t.in[q + t.s * (p + 2 * t.m)];
      LaneComplex* y = t.out + q + t.s * 3 * p;
      float re1[kLanes], im1[kLanes], re2[kLanes], im2[kLanes];
      for (std::size_t l = 0; l < kLanes; ++l) {
        const float sum_re = x1.re[l] + x2.re[l], sum_im = x1.im[l] + x2.im[l];
        const float turned_re = -root * (x1.im[l] - x2.im[l]),
                    turned_im = root * (x1.re[l] - x2.re[l]);
        const float middle_re = x0.re[l] - 0.5F * sum_re, middle_im = x0.im[l] - 0.5F * sum_im;
        y[0].re[l] = x0.re[l] + sum_re;
        y[0].im[l] = x0.im[l] + sum_im;
        re1[l] = middle_re + turned_re;
        im1[l] = middle_im + turned_im;
        re2[l] = middle_re - turned_re;
        im2[l] = middle_im - turned_im;
      }
      store_product(re1, im1, c[1], d1, y[t.s]);
      store_product(re2, im2, c[2], d2, y[2 * t.s]);
    }
  }
}

SFUMATO_VECTOR_CLONES void stage4(const StageTask& t) {
  for (std::size_t p = 0; p < t.m; ++p) {
    const float* c = t.cosines + 4 * p;
    const float* d = t.sines + 4 * p;
    for (std::size_t q = 0; q < t.s; ++q) {
      const LaneComplex* x = t.in + q + t.s * p;
      const std::size_t step = t.s * t.m;
      LaneComplex* y = t.out + q + t.s * 4 * p;
      float re[3][kLanes], im[3][kLanes];
      for (std::size_t l = 0; l < kLanes; ++l) {
        const float a_re = x[0].re[l] + x[2 * step].re[l], a_im = x[0].im[l] + x[2 * step].im[l];
        const float b_re = x[0].re[l] - x[2 * step].re[l], b_im = x[0].im[l] - x[2 * step].im[l];
        const float c_re = x[step].re[l] + x[3 * step].re[l],
                    c_im = x[step].im[l] + x[3 * step].im[l];
        // Times -i, or i on the way back.
        const float d_re = t.sign * (x[step].im[l] - x[3 * step].im[l]),
                    d_im = -t.sign * (x[step].re[l] - x[3 * step].re[l]);
        y[0].re[l] = a_re + c_re;
        y[0].im[l] = a_im + c_im;
        re[0][l] = b_re + d_re;
        im[0][l] = b_im + d_im;
        re[1][l] = a_re - c_re;
        im[1][l] = a_im - c_im;
        re[2][l] = b_re - d_re;
        im[2][l] = b_im - d_im;
      }
      for (std::size_t j = 1; j < 4; ++j) {
        store_product(re[j - 1], im[j - 1], c[j], t.sign * d[j], y[j * t.s]);
      }
    }
  }
}

/// Any radix, by its definition.
SFUMATO_VECTOR_CLONES void stage_by_definition(const StageTask& t, std::size_t radix,
                                               const float* cosines, const float* sines) {
  for (std::size_t p = 0; p < t.m; ++p) {
    for (std::size_t q = 0; q < t.s; ++q) {
      for (std::size_t j = 0; j < radix; ++j) {
        float re[kLanes] = {}, im[kLanes] = {};
        for (std::size_t i = 0; i < radix; ++i) {
          const LaneComplex& x = t.in[q + t.s * (p + i * t.m)];
          const float c = cosines[i * j % radix], d = t.sign * sines[i * j % radix];
          for (std::size_t l = 0; l < kLanes; ++l) {
            re[l] += x.re[l] * c - x.im[l] * d;
            im[l] += x.re[l] * d + x.im[l] * c;
          }
        }
        store_product(re, im, t.cosines[radix * p + j], t.sign * t.sines[radix * p + j],
                      t.out[q + t.s * (radix * p + j)]);
      }
    }
  }
}

std::size_t next_radix(std::size_t n) {
  if (n % 4 == 0) return 4;
  for (std::size_t radix = 2; radix * radix <= n; ++radix) {
    if (n % radix == 0) return radix;
  }
  return n;
}

void append_root(std::size_t power, std::size_t n, std::vector<float>& cosines,
                 std::vector<float>& sines) {
  const double angle =
      -2.0 * std::numbers::pi * static_cast<double>(power % n) / static_cast<double>(n);
  cosines.push_back(static_cast<float>(std::cos(angle)));
  sines.push_back(static_cast<float>(std::sin(angle)));
}

}  // namespace

LaneFourier::LaneFourier(std::size_t length) : length_(length) {
  for (std::size_t n = length; n > 1;) {
    Stage stage{next_radix(n), {}, {}, {}, {}};
    for (std::size_t p = 0; p < n / stage.radix; ++p) {
      for (std::size_t j = 0; j < stage.radix; ++j) {
        append_root(p * j, n, stage.cosines, stage.sines);
      }
    }
    for (std::size_t j = 0; j < stage.radix; ++j) {
      append_root(j, stage.radix, stage.small_cosines, stage.small_sines);
    }
    n /= stage.radix;
    stages_.push_back(std::move(stage));
  }
}

LaneComplex* LaneFourier::transform(LaneComplex* values, LaneComplex* room, std::size_t inner,
                                    bool inverse) const {
  std::size_t s = inner, n = length_;
  for (const Stage& stage : stages_) {
    n /= stage.radix;
    const StageTask task{
        values, room, n, s, stage.cosines.data(), stage.sines.data(), inverse ? -1.0F : 1.0F};
    switch (stage.radix) {
      case 2: stage2(task); break;
      case 3: stage3(task); break;
      case 4: stage4(task); break;
      default:
        stage_by_definition(task, stage.radix, stage.small_cosines.data(),
                            stage.small_sines.data());
    }
    s *= stage.radix;
    std::swap(values, room);
  }
  return values;
}

void transform_plane(const LaneFourier& rows, const LaneFourier& columns, LaneComplex* plane,
                     LaneComplex* room, bool inverse) {
  const std::size_t height = rows.length(), width = columns.length();
  LaneComplex* found = rows.transform(plane, room, width, inverse);
  LaneComplex* free = found == plane ? room : plane;
  for (std::size_t y = 0; y < height; ++y) {
    LaneComplex* row = found + y * width;
    const LaneComplex* moved = columns.transform(row, free + y * width, 1, inverse);
    if (moved != plane + y * width) std::copy_n(moved, width, plane + y * width);
  }
}

}  // namespace sfumato::lab
