// Discretised privacy-loss distributions: values with 22 digits from elsewhere lie inside, edges, refusals.
#include "sfumato/account/lattice/pld.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

constexpr PldGrid kSmall{std::size_t{1} << 15};

TEST(Pld, EnclosesReferenceValues) {
  struct Value {
    TotalLoss loss;
    double eps, delta, width;  // the width is what this grid reached, doubled
  };
  for (const auto& [loss, eps, delta, width] : std::vector<Value>{
           {{{SampledGaussian{.01, 1, 1000, remove}}}, 1, 0.002612420578626923815571, 8e-3},
           {{{SampledGaussian{.01, 1, 1000, add}}}, 1, 0.0007945901735717182519954, 6e-3},
           {{{SampledGaussian{.01, 1, 1000, replace}}}, 1, 0.03296211613114485641885, 2e-3},
           {{{SampledGaussian{.01, 1, 1000, remove}}}, 0, 0.1610176196979251648780, 1e-3},
           {{{SampledGaussian{.1, 1, 2, remove}}}, 1, 5.141604293965e-4, 8e-6},
           {{{SampledGaussian{.01, 1, 500, remove}}, 100.0 / 400.0},
            2,
            0.0001361240104452213,
            6e-3},
           {{{TwoSidedGaussian{.05, .5, 400}}}, 3, 3.733949178091584312350e-7, 3e-3},
           {{{GroupGaussian{.01, .5, 3, 2000, remove}}}, 2, 0.001623213731859373397668, 6e-3},
           {{{GroupGaussian{.01, 1, 1, 1000, remove}}}, 1, 0.002612420578626923815571, 8e-3}}) {
    const LogEnclosure found = pld_delta(loss, eps, kSmall);
    EXPECT_LE(found.log_lo, std::log(delta) + 1e-12);
    EXPECT_GE(found.log_hi, std::log(delta) - 1e-12);
    EXPECT_LT(found.log_hi - found.log_lo, width) << delta;
  }
}

TEST(Pld, TiltingKeepsTheDigitsOfATinyDelta) {
  // Where transforms without a tilt put an upper bound of 2.118e-13, which is 17 % too low.
  const LogEnclosure found = pld_delta({{SampledGaussian{.001, 1, 1000, remove}}}, 1);
  EXPECT_LE(found.log_lo, std::log(2.54093041e-13));
  EXPECT_GE(found.log_hi, std::log(2.54093039e-13));
  EXPECT_LT(found.log_hi - found.log_lo, 1e-2);
}

TEST(Pld, FinerGridsAreNarrower) {
  const TotalLoss loss{{SampledGaussian{.01, 1, 1000, remove}}};
  double before = kInf;
  for (const int bits : {12, 14, 16}) {
    const LogEnclosure found = pld_delta(loss, 1, {std::size_t{1} << bits});
    EXPECT_LT(found.log_hi - found.log_lo, before);
    before = found.log_hi - found.log_lo;
  }
}

TEST(Pld, KnowsStepsThatAreBounded) {
  // Randomised response: k answers, each true with odds e^eps0; delta is a binomial sum.
  const double eps0 = 0.5, eps = 2.0;
  const int k = 10;
  const double truth = 1.0 / (1.0 + std::exp(-eps0));
  double exact = 0.0;
  for (int j = 0; j <= k; ++j) {
    const double loss = (2 * j - k) * eps0;
    if (loss <= eps) continue;
    exact += std::exp(std::lgamma(k + 1.0) - std::lgamma(j + 1.0) - std::lgamma(k - j + 1.0)) *
             std::pow(truth, j) * std::pow(1.0 - truth, k - j) * -std::expm1(eps - loss);
  }
  const LogEnclosure found = pld_delta({{RandomisedResponse{eps0, k}}}, eps, kSmall);
  EXPECT_LE(found.log_lo, std::log(exact) + 1e-13);
  EXPECT_GE(found.log_hi, std::log(exact) - 1e-13);
  EXPECT_LT(found.log_hi - found.log_lo, 1e-8);  // its atoms are on the lattice
  // Beyond the largest loss nothing is left.
  EXPECT_EQ(pld_delta({{RandomisedResponse{eps0, 1}}}, 0.6).log_hi, -kInf);
  // One Laplace step: delta(eps) = 1 - e^{(eps - eps0)/2}.
  const LogEnclosure laplace = pld_delta({{LaplaceStep{1.0, 1}}}, 0.5);
  const double one = std::log(-std::expm1(-0.25));
  EXPECT_LE(laplace.log_lo, one);
  EXPECT_GE(laplace.log_hi, one);
  EXPECT_LT(laplace.log_hi - laplace.log_lo, 1e-13);
  // Two of them, by quadrature (30 digits): see tests/property for the comparison with the contour.
  const LogEnclosure two = pld_delta({{LaplaceStep{1.0, 2}}}, 0.5, kSmall);
  EXPECT_LT(two.log_hi - two.log_lo, 1e-6);
}

TEST(Pld, FailuresAndShifts) {
  const TotalLoss plain{{SampledGaussian{.01, 1, 100, remove}}};
  TotalLoss failing = plain;
  failing.log_survival = std::log1p(-1e-3);
  const LogEnclosure without = pld_delta(plain, 1, kSmall), with = pld_delta(failing, 1, kSmall);
  EXPECT_NEAR(std::exp(with.log_hi), 1e-3 + (1 - 1e-3) * std::exp(without.log_hi), 1e-14);
  TotalLoss shifted = plain;
  shifted.shift = 0.25;
  const LogEnclosure moved = pld_delta(shifted, 1.25, kSmall);
  EXPECT_NEAR(moved.log_hi, without.log_hi, 1e-9);
  EXPECT_NEAR(std::exp(pld_delta(failing, kInf).log_hi), 1e-3, 1e-15);
}

TEST(Pld, Edges) {
  EXPECT_EQ(pld_delta({}, 1).log_hi, -kInf);
  EXPECT_NEAR(std::exp(pld_delta({}, -1).log_hi), -std::expm1(-1.0), 1e-15);
  const TotalLoss loss{{SampledGaussian{.01, 1, 1000, remove}}};
  EXPECT_EQ(pld_delta(loss, kInf).log_hi, -kInf);
  EXPECT_EQ(pld_delta(loss, -kInf).log_hi, 0.0);
  const LogEnclosure below = pld_delta(loss, -3, kSmall);
  EXPECT_GE(below.log_lo, std::log(-std::expm1(-3.0)) - 1e-14);
  EXPECT_GE(below.log_hi, below.log_lo);
  EXPECT_THROW((void)pld_delta(loss, std::nan("")), InvalidArgument);
  EXPECT_THROW((void)pld_delta(loss, 1, {1000}), InvalidArgument);
  EXPECT_THROW((void)pld_delta(loss, 1, {32}), InvalidArgument);
  EXPECT_THROW((void)pld_delta({{SampledGaussian{1.5, 1, 1000}}}, 1), InvalidArgument);
}

TEST(Pld, HardlyAnyNoiseGivesAnEnclosureAllTheSame) {
  for (const double sigma : {0.0133251757274315, 1e-3, 1e-6, 1e-150}) {
    for (const StepDirection direction : {remove, add, replace}) {
      const TotalLoss loss{{SampledGaussian{0.6368441062296624, 1.0 / sigma, 22, direction}}};
      const LogEnclosure found = pld_delta(loss, 22.28430770469579, {std::size_t{1} << 14});
      EXPECT_LE(found.log_lo, found.log_hi) << sigma;
      EXPECT_LE(found.log_hi, 0.0) << sigma;
    }
  }
}

}  // namespace
}  // namespace sfumato
