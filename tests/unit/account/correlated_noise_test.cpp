// Sensitivity of correlated noise against all patterns of participation.
#include "sfumato/account/accountant/correlated_noise.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// The most over all sets of steps that are `separation` apart, with rows that agree in sign: the Gram matrix is not negative.
double over_all_patterns(const std::vector<double>& c, unsigned steps, unsigned separation,
                         int most) {
  double largest = 0.0;
  for (unsigned set = 1; set < (1U << steps); ++set) {
    if (std::popcount(set) > most) continue;
    bool apart = true;
    std::vector<double> sum(steps, 0.0);
    for (unsigned i = 0, last = steps; i < steps; ++i) {
      if ((set >> i & 1U) == 0) continue;
      apart = apart && (last == steps || i - last >= separation);
      last = i;
      for (unsigned j = i; j < steps && j - i < c.size(); ++j) sum[j] += c[j - i];
    }
    if (!apart) continue;
    double squares = 0.0;
    for (const double value : sum) squares += value * value;
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

TEST(CorrelatedNoise, SensitivityIsThatOfTheWorstPattern) {
  for (const unsigned steps : {5U, 12U}) {
    const std::vector<std::vector<double>> matrices = {
        square_root_coefficients(12), square_root_coefficients(3), lambda_coefficients(.8, 12),
        lambda_coefficients(0.0, 12), buffered_coefficients({.3, .5}, {.9, .2}, 12)};
    for (const std::vector<double>& c : matrices) {
      for (const unsigned separation : {1U, 3U, 4U}) {
        for (const int participations : {1, 2, 4, 12}) {
          const double worst = over_all_patterns(c, steps, separation, participations);
          const double found =
              toeplitz_sensitivity(c, steps, separation, static_cast<std::size_t>(participations));
          EXPECT_GE(found, worst);
          EXPECT_LE(found, worst * (1.0 + 1e-14));
        }
      }
    }
  }
}

TEST(CorrelatedNoise, CoefficientsAreThoseOfTheirMatrices) {
  // The square of the square root is the prefix sum: its coefficients convolve to 1.
  const std::vector<double> root = square_root_coefficients(20);
  for (std::size_t n = 0; n < root.size(); ++n) {
    double sum = 0.0;
    for (std::size_t k = 0; k <= n; ++k) sum += root[k] * root[n - k];
    EXPECT_NEAR(sum, 1.0, 1e-14);
  }
  const std::vector<double> lambda = lambda_coefficients(.5, 30);
  EXPECT_NEAR(column_norm(lambda, 10), std::sqrt((1.0 - std::pow(.5, 20)) / (1.0 - .25)), 1e-14);
  // Buffers B_j, run as they are in training: C times the noise they make is the noise that was drawn.
  const std::vector<double> w = {.3, .5}, th = {.9, .2};
  const std::vector<double> c = buffered_coefficients(w, th, 15);
  std::vector<double> buffers(2, 0.0), made;
  for (int i = 0; i < 15; ++i) {
    const double z = std::sin(1.0 + i);
    const double hat = z - w[0] * buffers[0] - w[1] * buffers[1];
    for (std::size_t j = 0; j < 2; ++j) buffers[j] = th[j] * buffers[j] + hat;
    made.push_back(hat);
    double back = 0.0;
    for (std::size_t k = 0; k < made.size(); ++k) back += c[k] * made[made.size() - 1 - k];
    EXPECT_NEAR(back, z, 1e-14) << i;
  }
}

TEST(CorrelatedNoise, RefusesWhatHasNoProof) {
  EXPECT_THROW((void)toeplitz_sensitivity({1.0, 1.1}, 5, 1, 1), InvalidArgument);
  EXPECT_THROW((void)toeplitz_sensitivity({1.0, -.1}, 5, 1, 1), InvalidArgument);
  EXPECT_THROW((void)toeplitz_sensitivity({1.0}, 0, 1, 1), InvalidArgument);
  EXPECT_THROW((void)lambda_coefficients(1.0, 5), InvalidArgument);
  EXPECT_THROW((void)buffered_coefficients({.6, .6}, {.1, .1}, 5), InvalidArgument);
  EXPECT_THROW((void)square_root_coefficients(0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
