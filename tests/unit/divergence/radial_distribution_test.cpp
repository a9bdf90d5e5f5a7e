#include "sfumato/divergence/radial_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

/// The same distribution by brute force: P(x > radius) and E[(x/x_K)^2; x > x_K].
struct Brute {
  std::vector<double> beyond;
  double outer;
};
Brute brute(int d, double slope, const std::vector<double>& radii, const std::vector<double>& m) {
  const double end = radii.back() + 60.0;
  const int cells = 400000;
  const double h = end / cells;
  double psi = 0.0;
  double derivative = -slope;
  double total = 0.0;
  Brute result{std::vector<double>(radii.size(), 0.0), 0.0};
  for (int i = 0; i < cells; ++i) {
    const double x = (i + 0.5) * h;
    std::size_t k = 0;
    while (k < radii.size() && x > radii[k]) ++k;
    const double curvature = k < radii.size() ? m[k] : 0.0;
    psi += h * (derivative + 0.5 * curvature * h);
    derivative += curvature * h;
    const double mass = std::pow(x, d - 1) * std::exp(-psi);
    total += mass;
    for (std::size_t j = 0; j < radii.size(); ++j) result.beyond[j] += x > radii[j] ? mass : 0.0;
    if (x > radii.back()) result.outer += mass * x * x / (radii.back() * radii.back());
  }
  for (double& value : result.beyond) value /= total;
  result.outer /= total;
  return result;
}

TEST(RadialDistribution, IsAboveTheIntegralAndNearIt) {
  std::vector<double> radii;
  for (double x = 0.5; x < 9.0; x += 0.5) radii.push_back(x);
  for (const int d : {1, 2, 6}) {
    for (const double slope : {0.0, 0.3, 2.0}) {
      for (const double fall : {0.0, 0.05}) {
        std::vector<double> m;
        for (const double x : radii) m.push_back(std::exp(-fall * x));
        const RadialTails got = radial_tails(d, slope, radii, m);
        const Brute want = brute(d, slope, radii, m);
        for (std::size_t k = 0; k < radii.size(); ++k) {
          EXPECT_GE(got.beyond[k], want.beyond[k] * (1.0 - 1e-3)) << d << " " << radii[k];
          EXPECT_LE(got.beyond[k], want.beyond[k] * 1.6 + 1e-12) << d << " " << radii[k];
        }
        EXPECT_GE(got.outer, want.outer * (1.0 - 1e-3));
      }
    }
  }
}

TEST(RadialDistribution, OneDimensionIsTheNormalTail) {
  const RadialTails got = radial_tails(1, 0.0, {1.0, 2.0, 4.0, 8.0}, {1.0, 1.0, 1.0, 1.0});
  EXPECT_GE(got.beyond[1], std::erfc(std::sqrt(2.0)));
  EXPECT_NEAR(got.beyond[1], std::erfc(std::sqrt(2.0)), 6e-3);
}

TEST(RadialDistribution, WithoutCurvatureThereIsNoBound) {
  const RadialTails got = radial_tails(3, 0.5, {1.0, 2.0}, {0.0, 0.0});
  EXPECT_EQ(got.outer, kInf);
  EXPECT_EQ(got.beyond[0], 1.0);
  EXPECT_EQ(got.beyond[1], 1.0);
}

}  // namespace
}  // namespace sfumato
