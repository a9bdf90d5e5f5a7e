#include "sfumato/random/discrete_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// The upper tail of chi-square with many degrees of freedom, by Wilson and Hilferty.
double chi_square_z(double value, double freedom) {
  return (std::cbrt(value / freedom) - (1.0 - 2.0 / (9.0 * freedom))) /
         std::sqrt(2.0 / (9.0 * freedom));
}

TEST(DiscreteGaussian, HasItsProbabilities) {
  ReleaseBits bits(ReleaseKey::from_seed(2026));
  for (const std::int64_t n : {1, 2, 5, 30}) {
    constexpr int kDraws = 100'000;
    std::map<std::int64_t, int> counts;
    for (int i = 0; i < kDraws; ++i) ++counts[draw_discrete_gaussian(n, bits)];
    double chi_square = 0.0, cells = 0.0, rest = kDraws, rest_seen = kDraws;
    for (std::int64_t k = -3 * n; k <= 3 * n; ++k) {
      const double expected = kDraws * discrete_gaussian_pmf(static_cast<double>(n), k);
      if (expected < 20.0) continue;
      chi_square += std::pow(counts[k] - expected, 2) / expected;
      rest -= expected;
      rest_seen -= counts[k];
      ++cells;
    }
    if (rest > 20.0) chi_square += std::pow(rest_seen - rest, 2) / rest, ++cells;
    // False alarm 3e-5 for each n, were the seed not fixed.
    EXPECT_LT(chi_square_z(chi_square, cells - 1.0), 4.0) << "n = " << n;
  }
}

TEST(DiscreteGaussian, HasItsVarianceOnFineGrids) {
  ReleaseBits bits(ReleaseKey::from_seed(11));
  for (const std::int64_t n : {std::int64_t{1} << 20, kLargestDeviation}) {
    constexpr int kDraws = 4000;
    double square = 0.0, mean = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double z =
          static_cast<double>(draw_discrete_gaussian(n, bits)) / static_cast<double>(n);
      mean += z / kDraws, square += z * z / kDraws;
    }
    EXPECT_NEAR(mean, 0.0, 4.5 / std::sqrt(kDraws));
    EXPECT_NEAR(square, 1.0, 4.5 * std::sqrt(2.0 / kDraws));
  }
}

TEST(DiscreteGaussian, RefusesGridsThatDoNotFit) {
  ReleaseBits bits(ReleaseKey::from_seed(1));
  EXPECT_THROW((void)draw_discrete_gaussian(0, bits), InvalidArgument);
  EXPECT_THROW((void)draw_discrete_gaussian(kLargestDeviation + 1, bits), InvalidArgument);
}

TEST(DiscreteGaussian, ProbabilitiesSumToOne) {
  for (const double n : {0.05, 0.3, 1.0, 3.99, 4.01, 50.0}) {
    double sum = 0.0;
    const auto end = static_cast<std::int64_t>(40.0 * n + 2.0);
    for (std::int64_t k = -end; k <= end; ++k) sum += discrete_gaussian_pmf(n, k);
    EXPECT_NEAR(sum, 1.0, 1e-14) << n;
  }
}

}  // namespace
}  // namespace sfumato
