#include "sfumato/account/contour/phase_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "sfumato/account/contour/phase_sum.hpp"

namespace sfumato {
namespace {

TEST(PhaseRows, TransformsGiveTheSumsUpToTheirError) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<double> weight, loss;
  for (int j = 0; j < 3000; ++j) {
    weight.push_back(std::pow(uniform(random), 4.0) / 600.0);
    loss.push_back(-0.3 + 5.0 * j / 3000.0);
  }
  constexpr double kPeriod = 3.7;
  constexpr std::size_t kRows = 1500;
  const PhaseRows rows = phase_rows(weight, loss, kPeriod, kRows, 10.0);
  ASSERT_GT(rows.error, 0.0) << "row by row: nothing is tested";
  EXPECT_LT(rows.error, 1e-12);
  for (const std::size_t n : {0ul, 1ul, 2ul, 700ul, 1499ul}) {
    const double y = 2.0 * std::numbers::pi * static_cast<double>(n) / kPeriod;
    const PhaseSum direct = phase_sum(weight.data(), loss.data(), loss.size(), y);
    EXPECT_LE(std::abs(rows.change[n] - std::complex<double>(direct.re, direct.im)),
              rows.error_at(y) + 1e-15)
        << n;
  }
}

}  // namespace
}  // namespace sfumato
