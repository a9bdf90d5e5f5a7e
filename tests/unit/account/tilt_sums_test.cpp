#include "sfumato/account/contour/tilt_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
constexpr double kUnit = 0x1p-53;

TEST(TiltSums, AreTheSumsUpToRounding) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (const double scale : {1e-12, 1e-3, 1.0, 300.0}) {
    for (const std::size_t count : {1U, 8U, 29U}) {
      const double s = 1.5;
      std::vector<double> weight(count), offset(count), loss(count), roundings(count, 1.0);
      Real change = 0, mass = 0, first = 0, second = 0;
      double off_change = 0.0, off_mass = 0.0, off_first = 0.0, off_second = 0.0;
      for (std::size_t j = 0; j < count; ++j) {
        weight[j] = unit(random);
        offset[j] = scale * (unit(random) - 0.5);
        loss[j] = scale * (unit(random) - 0.5);
        const Real x = Real(offset[j]) + Real(s) * loss[j];
        const double size = std::fabs(offset[j]) + s * std::fabs(loss[j]);
        const double tilted = weight[j] * std::exp(static_cast<double>(x));
        const Real exact = weight[j] * exp(x);
        change += exact - weight[j];
        mass += exact;
        first += exact * loss[j];
        second += exact * loss[j] * loss[j];
        const double relative = 4.0 * kUnit * (2.0 + size);
        off_change += 4.0 * kUnit * weight[j] * std::min(size, 1.0) *
                          (2.0 + std::exp(static_cast<double>(x))) +
                      4.0 * kUnit * size * tilted;
        off_mass += relative * (tilted + weight[j]);
        off_first += relative * tilted * std::fabs(loss[j]);
        off_second += relative * tilted * loss[j] * loss[j];
      }
      const TiltSums found =
          tilt_sums({weight.data(), offset.data(), loss.data(), roundings.data(), count}, s);
      EXPECT_NEAR(static_cast<double>(change - found.change), 0.0, off_change) << scale;
      EXPECT_NEAR(static_cast<double>(mass - found.mass), 0.0, off_mass) << scale;
      EXPECT_NEAR(static_cast<double>(first - found.first), 0.0, off_first) << scale;
      EXPECT_NEAR(static_cast<double>(second - found.second), 0.0, off_second) << scale;
    }
  }
}

}  // namespace
}  // namespace sfumato
