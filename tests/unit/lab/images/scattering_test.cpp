// The transform against a direct computation in double precision: filters from their formula, sums over all pixels, nothing from the library
// but the shape of its results.
#include "lab/images/features/scattering.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

using Complex = std::complex<double>;
constexpr double kPi = std::numbers::pi;

/// Periodic planes.
struct Plane {
  int height, width;
  std::vector<Complex> values;

  Plane(int h, int w) : height(h), width(w), values(static_cast<std::size_t>(h * w)) {}
  Complex& at(int y, int x) {
    return values[static_cast<std::size_t>((y % height + height) % height * width +
                                           (x % width + width) % width)];
  }
  const Complex& at(int y, int x) const { return const_cast<Plane*>(this)->at(y, x); }
};

Plane convolved(const Plane& a, const Plane& b) {
  Plane out(a.height, a.width);
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      for (int v = 0; v < a.height; ++v) {
        for (int u = 0; u < a.width; ++u) out.at(y, x) += a.at(v, u) * b.at(y - v, x - u);
      }
    }
  }
  return out;
}

Plane every(const Plane& a, int k) {
  Plane out(a.height / k, a.width / k);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) out.at(y, x) = a.at(k * y, k * x);
  }
  return out;
}

Plane modulus(Plane a) {
  for (Complex& value : a.values) value = std::abs(value);
  return a;
}

/// exp(-(along^2 + slant^2 across^2) / 2 sigma^2 + i xi along) slant / (2 pi sigma^2), summed over the periods.
Plane wave(int height, int width, double sigma, double theta, double xi, double slant) {
  Plane out(height, width);
  for (int y = -3 * height; y < 3 * height; ++y) {
    for (int x = -3 * width; x < 3 * width; ++x) {
      const double along = y * std::cos(theta) + x * std::sin(theta),
                   across = -y * std::sin(theta) + x * std::cos(theta);
      const double decay =
          std::exp(-(along * along + slant * slant * across * across) / (2 * sigma * sigma));
      out.at(y, x) += slant / (2 * kPi * sigma * sigma) * decay * std::polar(1.0, xi * along);
    }
  }
  return out;
}

Complex sum_of(const Plane& a) {
  Complex sum;
  for (const Complex& value : a.values) sum += value;
  return sum;
}

Plane morlet(int height, int width, int octave, int angle) {
  const double sigma = 0.8 * std::exp2(octave), theta = (3 - angle) * kPi / 8;
  Plane packet = wave(height, width, sigma, theta, 0.75 * kPi / std::exp2(octave), 0.5);
  const Plane envelope = wave(height, width, sigma, theta, 0.0, 0.5);
  const Complex factor = sum_of(packet) / sum_of(envelope);
  for (std::size_t i = 0; i < packet.values.size(); ++i)
    packet.values[i] -= factor * envelope.values[i];
  return packet;
}

/// The filter that does on every second pixel what the low frequencies of `a` do: by its Fourier series.
Plane halved(const Plane& a) {
  const int height = a.height / 2, width = a.width / 2;
  Plane out(height, width);
  for (int k = -height / 2; k < height / 2; ++k) {
    for (int l = -width / 2; l < width / 2; ++l) {
      Complex coefficient;
      for (int y = 0; y < a.height; ++y) {
        for (int x = 0; x < a.width; ++x) {
          coefficient +=
              a.at(y, x) *
              std::polar(1.0, -2 * kPi * (1.0 * k * y / a.height + 1.0 * l * x / a.width));
        }
      }
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          out.at(y, x) += coefficient.real() *
                          std::polar(1.0, 2 * kPi * (1.0 * k * y / height + 1.0 * l * x / width)) /
                          static_cast<double>(height * width);
        }
      }
    }
  }
  return out;
}

float pixel(int y, int x) {
  return static_cast<float>(0.5 + 0.3 * std::sin(0.9 * y * x + 0.3 * y) +
                            0.01 * ((7 * y + 3 * x) % 11));
}

TEST(Scattering, IsWhatTheDefinitionSays) {
  const int height = 8, width = 12;
  const Scattering transform(height, width);
  const int rows = 16, columns = 20;
  ASSERT_EQ(transform.padded_height(), 16U);
  ASSERT_EQ(transform.padded_width(), 20U);
  ASSERT_EQ(transform.height(), 2);
  ASSERT_EQ(transform.width(), 3);
  std::vector<float> image;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) image.push_back(pixel(y, x));
  }
  const std::size_t size = 2 * 3;
  std::vector<float> maps(Scattering::kMaps * size);
  const std::span<const float> images[] = {image};
  const std::span<float> outputs[] = {maps};
  transform.transform(images, outputs);

  Plane x(rows, columns);
  const auto folded = [](int i, int n) { return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i; };
  for (int y = 0; y < rows; ++y) {
    for (int u = 0; u < columns; ++u)
      x.at(y, u) = static_cast<double>(pixel(folded(y - 4, height), folded(u - 4, width)));
  }
  const Plane phi = wave(rows, columns, 1.6, 0.0, 0.0, 1.0), half_phi = halved(phi);
  double worst = 0.0, largest = 0.0;
  const auto compare = [&](const Plane& signal, int octave, std::size_t map) {
    const Plane low =
        octave == 0 ? every(convolved(signal, phi), 4) : every(convolved(signal, half_phi), 2);
    for (int i = 0; i < static_cast<int>(size); ++i) {
      const double expected = low.at(1 + i / 3, 1 + i % 3).real();
      worst = std::max(
          worst,
          std::abs(expected - static_cast<double>(maps[map * size + static_cast<std::size_t>(i)])));
      largest = std::max(largest, std::abs(expected));
    }
  };
  compare(x, 0, 0);
  std::vector<Plane> psi;
  for (int n = 0; n < 16; ++n) psi.push_back(morlet(rows, columns, n / 8, n % 8));
  std::size_t second_map = 17;
  for (std::size_t n = 0; n < 16; ++n) {
    const int octave = n < 8 ? 0 : 1;
    const Plane first = every(modulus(convolved(x, psi[n])), 1 << octave);
    compare(first, octave, 1 + n);
    if (octave > 0) continue;
    for (std::size_t a = 8; a < 16; ++a) {
      compare(every(modulus(convolved(first, psi[a])), 2), 1, second_map++);
    }
  }
  EXPECT_EQ(second_map, Scattering::kMaps);
  EXPECT_GT(largest, 0.3);
  EXPECT_LT(worst, 2e-6);  // single precision, sums of 320 numbers below 1
}

/// All maps at row 3, column 5 of an image of 28 x 28, by kymatio 0.3.0 (PyPI), whose filters are in single precision:
///   y, x = np.mgrid[0:28, 0:28]
///   image = (0.5 + 0.3 * np.sin(0.9 * y * x + 0.3 * y) + 0.01 * ((7 * y + 3 * x) % 11)).astype(np.float32)
///   kymatio.numpy.Scattering2D(J=2, shape=(28, 28))(image)[:, 3, 5]
TEST(Scattering, AgreesWithKymatio) {
  const std::vector<double> expected = {
      0.494778, 0.057759, 0.042930, 0.041016, 0.036748, 0.036564, 0.045955, 0.037468, 0.042784,
      0.047979, 0.024836, 0.021249, 0.037485, 0.016995, 0.022517, 0.027219, 0.022308, 0.007257,
      0.009133, 0.004678, 0.007367, 0.003481, 0.002196, 0.006014, 0.010300, 0.004170, 0.010318,
      0.003583, 0.003361, 0.002309, 0.007473, 0.003995, 0.005347, 0.004769, 0.008650, 0.004358,
      0.007386, 0.004202, 0.005065, 0.003421, 0.005204, 0.003827, 0.005583, 0.011193, 0.023243,
      0.010829, 0.004012, 0.004385, 0.006287, 0.004284, 0.004026, 0.005557, 0.009758, 0.004529,
      0.011424, 0.005544, 0.007868, 0.001173, 0.006063, 0.002508, 0.005289, 0.004703, 0.010351,
      0.003785, 0.001743, 0.002318, 0.003144, 0.001999, 0.004698, 0.003581, 0.006665, 0.002509,
      0.004924, 0.006584, 0.001930, 0.001565, 0.000757, 0.001799, 0.004412, 0.009206, 0.014341,
  };
  const Scattering transform(28, 28);
  ASSERT_EQ(transform.height(), 7);
  std::vector<float> image;
  for (int i = 0; i < 28 * 28; ++i) image.push_back(pixel(i / 28, i % 28));
  std::vector<float> maps(Scattering::kMaps * 49);
  const std::span<const float> images[] = {image};
  const std::span<float> outputs[] = {maps};
  transform.transform(images, outputs);
  for (std::size_t m = 0; m < Scattering::kMaps; ++m) {
    EXPECT_NEAR(static_cast<double>(maps[m * 49 + 3 * 7 + 5]), expected[m], 5e-5) << m;
  }
}

TEST(Scattering, ImagesDoNotMeetTheirNeighbours) {
  const Scattering transform(9, 10);
  const auto size =
      static_cast<std::size_t>(transform.height() * transform.width()) * Scattering::kMaps;
  std::vector<std::vector<float>> images(3), alone(3), together(3);
  std::vector<std::span<const float>> in;
  std::vector<std::span<float>> out;
  for (std::size_t i = 0; i < 3; ++i) {
    for (int p = 0; p < 90; ++p) images[i].push_back(pixel(p / 10 + static_cast<int>(i), p % 10));
    alone[i].resize(size);
    together[i].resize(size);
    in.emplace_back(images[i]);
    out.emplace_back(together[i]);
  }
  transform.transform(in, out);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::span<float> one[] = {alone[i]};
    transform.transform({&in[i], 1}, one);
    EXPECT_EQ(alone[i], together[i]);
  }
}

TEST(Scattering, TinyImagesAreRefused) { EXPECT_THROW(Scattering(7, 28), InvalidArgument); }

}  // namespace
}  // namespace sfumato::lab
