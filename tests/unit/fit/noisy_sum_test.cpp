#include "sfumato/fit/noisy_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::Index;

/// Ten records with (1, i) each.
NoisySum sum_of(double clip, NoiseMode mode, std::uint64_t seed, double multiplier) {
  ReleaseBits bits(ReleaseKey::from_seed(seed));
  return noisy_sum(
      [](Index i, Eigen::Ref<Eigen::ArrayXd> out) { out << 1.0, static_cast<double>(i); },
      {10, 2, clip, multiplier, 10.0}, mode, bits);
}

TEST(NoisySum, IsTheSumWhereNoiseIsTiny) {
  const NoisySum plain = sum_of(20.0, NoiseMode::gaussian, 1, 1e-6);
  EXPECT_NEAR(plain.sum(0), 10.0, 1e-3);
  EXPECT_NEAR(plain.sum(1), 45.0, 1e-3);
  EXPECT_DOUBLE_EQ(plain.noise_std, 2e-5);
  // No grid is fine enough for so little noise.
  EXPECT_THROW((void)sum_of(20.0, NoiseMode::grid, 1, 1e-6), InvalidArgument);
}

TEST(NoisySum, ClipsEveryRecordByItself) {
  // (1, i) is sqrt(1 + i^2) long: clipped to 1 all but the first are unit vectors.
  const NoisySum found = sum_of(1.0, NoiseMode::gaussian, 2, 1e-9);
  double first = 0.0, second = 0.0;
  for (double i = 0.0; i < 10.0; ++i) {
    first += 1.0 / std::hypot(1.0, i);
    second += i / std::hypot(1.0, i);
  }
  EXPECT_NEAR(found.sum(0), first, 1e-6);
  EXPECT_NEAR(found.sum(1), second, 1e-6);
}

TEST(NoisySum, RecordsThatAreNotFiniteCountNothing) {
  ReleaseBits bits(ReleaseKey::from_seed(3));
  const NoisySum found = noisy_sum(
      [](Index i, Eigen::Ref<Eigen::ArrayXd> out) {
        out(0) = i == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.5;
      },
      {3, 1, 1.0, 1e-9, 3.0}, NoiseMode::gaussian, bits);
  EXPECT_NEAR(found.sum(0), 1.0, 1e-6);
}

TEST(NoisySum, NoiseHasTheDeviationThatItNames) {
  double square = 0.0;
  constexpr int kRuns = 400;
  for (int i = 0; i < kRuns; ++i) {
    const NoisySum found = sum_of(20.0, NoiseMode::grid, 10U + static_cast<std::uint64_t>(i), 0.5);
    square += std::pow((found.sum(0) - 10.0) / found.noise_std, 2) / kRuns;
  }
  EXPECT_NEAR(square, 1.0,
              6.0 * std::sqrt(2.0 / kRuns));  // false alarm 2e-9, and the seeds are fixed
}

TEST(NoisyVector, CostsWhatWasAskedFor) {
  ReleaseBits bits(ReleaseKey::from_seed(4));
  const Eigen::VectorXd value = Eigen::Vector3d(0.1, -0.2, 0.3);
  const NoisySum plain = noisy_vector(value, 0.01, 2.0, NoiseMode::gaussian, bits);
  EXPECT_NEAR(plain.noise_std, 0.005, 1e-12);
  // On a grid rounding moves it by sqrt(3) units more, which noise has to hide too.
  const NoisySum grid = noisy_vector(value, 0.01, 2.0, NoiseMode::grid, bits);
  EXPECT_GT(grid.noise_std, 0.005);
  EXPECT_LT(grid.noise_std, 0.00501);
  EXPECT_THROW((void)noisy_vector(value, 0.0, 2.0, NoiseMode::grid, bits), InvalidArgument);
  EXPECT_THROW((void)noisy_vector(value, 0.01, 1e-12, NoiseMode::grid, bits), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
