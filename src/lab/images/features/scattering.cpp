#include "lab/images/features/scattering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "sfumato/core/error.hpp"
#include "sfumato/core/vector_clones.hpp"

namespace sfumato::lab {
namespace {

using Complex = std::complex<double>;
constexpr std::size_t kLanes = kFourierLanes;

/// A Gaussian of width sigma, stretched by 1 / slant across its direction, times a wave of frequency xi along it; periodic.
struct Gabor {
  double sigma, theta, xi, slant;
};

/// Tiles beyond the first two on either side hold less than e^-200 of such a filter.
constexpr int kTiles = 2;

std::vector<Complex> gabor(const Gabor& g, std::size_t height, std::size_t width) {
  const double c = std::cos(g.theta), s = std::sin(g.theta);
  const double scale = 1.0 / (2.0 * g.sigma * g.sigma), across = g.slant * g.slant;
  const double xx = scale * (c * c + across * s * s), yy = scale * (s * s + across * c * c);
  const double xy = scale * 2.0 * (1.0 - across) * c * s;
  std::vector<Complex> values(height * width);
  const auto h = static_cast<int>(height), w = static_cast<int>(width);
  for (int ty = -kTiles; ty <= kTiles; ++ty) {
    for (int tx = -kTiles; tx <= kTiles; ++tx) {
      for (int i = 0; i < h; ++i) {
        for (int j = 0; j < w; ++j) {
          const double x = i + ty * h, y = j + tx * w;
          const double decay = std::exp(-(xx * x * x + xy * x * y + yy * y * y));
          const double phase = g.xi * (x * c + y * s);
          values[static_cast<std::size_t>(i * w + j)] +=
              decay * Complex(std::cos(phase), std::sin(phase));
        }
      }
    }
  }
  const double norm = 2.0 * std::numbers::pi * g.sigma * g.sigma / g.slant;
  for (Complex& value : values) value /= norm;
  return values;
}

/// A wave packet less as much of its envelope that it sums to zero.
std::vector<Complex> morlet(const Gabor& g, std::size_t height, std::size_t width) {
  std::vector<Complex> wave = gabor(g, height, width);
  const std::vector<Complex> envelope = gabor({g.sigma, g.theta, 0.0, g.slant}, height, width);
  Complex wave_sum, envelope_sum;
  for (const Complex& value : wave) wave_sum += value;
  for (const Complex& value : envelope) envelope_sum += value;
  const Complex factor = wave_sum / envelope_sum;
  for (std::size_t i = 0; i < wave.size(); ++i) wave[i] -= factor * envelope[i];
  return wave;
}

/// Real part of the discrete Fourier transform, by its definition, rows first: filters are made once.
std::vector<float> spectrum_of(const std::vector<Complex>& signal, std::size_t height,
                               std::size_t width) {
  const auto roots = [](std::size_t n) {
    std::vector<Complex> found(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double angle =
          -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      found[k] = {std::cos(angle), std::sin(angle)};
    }
    return found;
  };
  const std::vector<Complex> across = roots(width), down = roots(height);
  std::vector<Complex> half(signal.size());
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t x = 0; x < width; ++x) {
        half[y * width + k] += signal[y * width + x] * across[x * k % width];
      }
    }
  }
  std::vector<float> result(signal.size());
  for (std::size_t k = 0; k < height; ++k) {
    for (std::size_t x = 0; x < width; ++x) {
      Complex sum;
      for (std::size_t y = 0; y < height; ++y) sum += half[y * width + x] * down[y * k % height];
      result[k * width + x] = static_cast<float>(sum.real());
    }
  }
  return result;
}

/// The low frequencies of a filter, for signals at every second pixel: what is above their range is left out.
std::vector<float> low_half(const std::vector<float>& filter, std::size_t height,
                            std::size_t width) {
  std::vector<float> kept;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const bool low_y = y < height / 4 || y >= height - height / 4;
      const bool low_x = x < width / 4 || x >= width - width / 4;
      if (low_y && low_x) kept.push_back(filter[y * width + x]);
    }
  }
  return kept;
}

/// in times a real filter, folded to every k-th pixel: the mean of the frequencies that become one.
struct FilterTask {
  const LaneComplex* in;
  const float* filter;
  std::size_t height, width, k;
  LaneComplex* out;
};

SFUMATO_VECTOR_CLONES void filter_and_fold(const FilterTask& t) {
  const std::size_t height = t.height / t.k, width = t.width / t.k;
  const float weight = 1.0F / static_cast<float>(t.k * t.k);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      LaneComplex sum = {};
      for (std::size_t v = 0; v < t.k; ++v) {
        for (std::size_t u = 0; u < t.k; ++u) {
          const std::size_t at = (y + v * height) * t.width + x + u * width;
          const float f = t.filter[at];
          const LaneComplex& value = t.in[at];
          for (std::size_t l = 0; l < kLanes; ++l) {
            sum.re[l] += f * value.re[l];
            sum.im[l] += f * value.im[l];
          }
        }
      }
      LaneComplex& out = t.out[y * width + x];
      for (std::size_t l = 0; l < kLanes; ++l) {
        out.re[l] = weight * sum.re[l];
        out.im[l] = weight * sum.im[l];
      }
    }
  }
}

SFUMATO_VECTOR_CLONES void take_modulus(LaneComplex* values, std::size_t count) {
  const float weight = 1.0F / static_cast<float>(count);  // of the inverse transform before
  for (std::size_t i = 0; i < count; ++i) {
    LaneComplex& v = values[i];
    for (std::size_t l = 0; l < kLanes; ++l) {
      v.re[l] = weight * std::sqrt(v.re[l] * v.re[l] + v.im[l] * v.im[l]);
      v.im[l] = 0.0F;
    }
  }
}

/// 4 to 7 more pixels, to a multiple of 4, and 4 again: the size whose quarter loses one pixel on either side.
std::size_t padded(int size) { return (static_cast<std::size_t>(size) / 4 + 2) * 4; }

}  // namespace

struct Scattering::Room {
  explicit Room(std::size_t count)
      : image(count), first(count), second(count), low(count / 16), free(count) {}
  std::vector<LaneComplex> image, first, second, low, free;
};

Scattering::Scattering(int height, int width)
    : height_(static_cast<std::size_t>(height)),
      width_(static_cast<std::size_t>(width)),
      padded_height_(padded(height)),
      padded_width_(padded(width)) {
  if (height < 8 || width < 8) {
    throw InvalidArgument(
        fmt::format("scattering features of records of {} x {} values", height, width),
        "Use it for images of 8 x 8 pixels or more");
  }
  filters_.push_back(spectrum_of(gabor({1.6, 0.0, 0.0, 1.0}, padded_height_, padded_width_),
                                 padded_height_, padded_width_));
  for (std::size_t j = 0; j < kOctaves; ++j) {
    const double octave = std::exp2(static_cast<double>(j));
    for (std::size_t a = 0; a < kAngles; ++a) {
      const double theta = (3.0 - static_cast<double>(a)) * std::numbers::pi / 8.0;
      filters_.push_back(
          spectrum_of(morlet({0.8 * octave, theta, 0.75 * std::numbers::pi / octave, 0.5},
                             padded_height_, padded_width_),
                      padded_height_, padded_width_));
    }
  }
  half_phi_ = low_half(filters_.front(), padded_height_, padded_width_);
  for (const std::size_t k : {1U, 2U, 4U}) {
    rows_.emplace_back(padded_height_ / k);
    columns_.emplace_back(padded_width_ / k);
  }
}

/// The map of a signal at every 2^octave-th pixel, given by its spectrum.
void Scattering::low_pass(Room& room, const LaneComplex* spectrum, std::size_t octave,
                          std::span<const std::span<float>> maps, std::size_t map) const {
  const std::size_t rows = padded_height_ / 4, columns = padded_width_ / 4;
  const std::size_t step = std::size_t{1} << octave;
  LaneComplex* low = room.low.data();
  filter_and_fold({spectrum, octave == 0 ? filters_.front().data() : half_phi_.data(),
                   padded_height_ / step, padded_width_ / step, 4 / step, low});
  transform_plane(rows_[2], columns_[2], low, room.free.data(), true);
  const float weight = 1.0F / static_cast<float>(rows * columns);
  const std::size_t inner = columns - 2, size = (rows - 2) * inner;
  for (std::size_t l = 0; l < maps.size(); ++l) {
    for (std::size_t i = 0; i < size; ++i) {
      maps[l][map * size + i] = weight * low[(i / inner + 1) * columns + i % inner + 1].re[l];
    }
  }
}

void Scattering::transform(std::span<const std::span<const float>> images,
                           std::span<const std::span<float>> maps) const {
  const std::size_t count = padded_height_ * padded_width_;
  Room room(count);
  // Borders are reflected without repeating the outermost pixel; what is odd goes behind.
  const auto reflected = [](std::size_t at, std::size_t before, std::size_t size) {
    const std::size_t last = size - 1;
    if (at < before) return before - at;
    const std::size_t i = at - before;
    return i <= last ? i : 2 * last - i;
  };
  const std::size_t above = (padded_height_ - height_) / 2, left = (padded_width_ - width_) / 2;
  for (std::size_t y = 0; y < padded_height_; ++y) {
    for (std::size_t x = 0; x < padded_width_; ++x) {
      const std::size_t at = reflected(y, above, height_) * width_ + reflected(x, left, width_);
      LaneComplex& pixel = room.image[y * padded_width_ + x];
      for (std::size_t l = 0; l < images.size(); ++l) pixel.re[l] = images[l][at];
    }
  }
  transform_plane(rows_[0], columns_[0], room.image.data(), room.free.data(), false);
  low_pass(room, room.image.data(), 0, maps, 0);
  std::size_t second_map = 1 + kOctaves * kAngles;
  for (std::size_t n = 0; n < kOctaves * kAngles; ++n) {
    const std::size_t octave = n / kAngles, step = std::size_t{1} << octave;
    const std::size_t size = count / (step * step);
    LaneComplex* first = room.first.data();
    filter_and_fold(
        {room.image.data(), filters_[1 + n].data(), padded_height_, padded_width_, step, first});
    transform_plane(rows_[octave], columns_[octave], first, room.free.data(), true);
    take_modulus(first, size);
    transform_plane(rows_[octave], columns_[octave], first, room.free.data(), false);
    low_pass(room, first, octave, maps, 1 + n);
    if (octave > 0) continue;
    for (std::size_t a = 0; a < kAngles; ++a) {
      LaneComplex* second = room.second.data();
      filter_and_fold(
          {first, filters_[1 + kAngles + a].data(), padded_height_, padded_width_, 2, second});
      transform_plane(rows_[1], columns_[1], second, room.free.data(), true);
      take_modulus(second, count / 4);
      transform_plane(rows_[1], columns_[1], second, room.free.data(), false);
      low_pass(room, second, 1, maps, second_map++);
    }
  }
}

}  // namespace sfumato::lab
