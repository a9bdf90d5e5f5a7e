#include "lab/images/features/lane_fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace sfumato::lab {
namespace {

using Complex = std::complex<double>;
constexpr double kPi = std::numbers::pi;

TEST(LaneFourier, IsTheDefinitionForEveryLength) {
  for (std::size_t n = 1; n <= 42; ++n) {
    const LaneFourier transform(n);
    std::vector<LaneComplex> values(3 * n), room(3 * n);
    for (std::size_t i = 0; i < 3 * n; ++i) {
      for (std::size_t l = 0; l < kFourierLanes; ++l) {
        values[i].re[l] = std::sin(static_cast<float>(i * (l + 1)));
        values[i].im[l] = std::cos(static_cast<float>(3 * i + l));
      }
    }
    for (const bool inverse : {false, true}) {
      std::vector<LaneComplex> given = values;
      const LaneComplex* found = transform.transform(given.data(), room.data(), 3, inverse);
      const double sign = inverse ? 1.0 : -1.0;
      for (std::size_t k = 0; k < n; ++k) {
        Complex sum;
        for (std::size_t j = 0; j < n; ++j) {
          const LaneComplex& x = values[3 * j + 2];
          sum += Complex(static_cast<double>(x.re[5]), static_cast<double>(x.im[5])) *
                 std::polar(
                     1.0, sign * 2 * kPi * static_cast<double>(j * k % n) / static_cast<double>(n));
        }
        EXPECT_NEAR(sum.real(), static_cast<double>(found[3 * k + 2].re[5]),
                    2e-6 * static_cast<double>(n))
            << n;
        EXPECT_NEAR(sum.imag(), static_cast<double>(found[3 * k + 2].im[5]),
                    2e-6 * static_cast<double>(n))
            << n;
      }
    }
  }
}

}  // namespace
}  // namespace sfumato::lab
