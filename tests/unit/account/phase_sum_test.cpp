#include "sfumato/account/contour/phase_sum.hpp"

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

TEST(PhaseSum, IsTheSumUpToRounding) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (const double y :
       {1e-9, 0.3, 40.0, 1e5, 3e8}) {  // the last one beyond what is reduced by hand
    for (const std::size_t count : {1U, 7U, 8U, 37U}) {
      std::vector<double> weight(count), loss(count);
      Real re = 0, im = 0;
      double error = 0.0;
      for (std::size_t j = 0; j < count; ++j) {
        weight[j] = unit(random);
        loss[j] = std::exp(12.0 * unit(random) - 10.0) * (unit(random) < 0.5 ? -1.0 : 1.0);
        const Real angle = Real(y) * loss[j];
        re += weight[j] * (cos(angle) - 1);
        im += weight[j] * sin(angle);
        // Two roundings of each factor, and the rounding of the angle.
        const double size = std::fabs(y * loss[j]);
        error += 8.0 * kUnit * weight[j] * std::min(size, 1.0) * (2.0 + size);
      }
      const PhaseSum found = phase_sum(weight.data(), loss.data(), count, y);
      EXPECT_NEAR(static_cast<double>(re - found.re), 0.0, error) << y << " " << count;
      EXPECT_NEAR(static_cast<double>(im - found.im), 0.0, error) << y << " " << count;
    }
  }
}

}  // namespace
}  // namespace sfumato
