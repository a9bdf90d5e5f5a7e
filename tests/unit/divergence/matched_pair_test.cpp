#include "sfumato/divergence/matched_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/ou_pair.hpp"
#include "sfumato/sde/family/formula.hpp"
#include "sfumato/sde/family/linear.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

SdePair pair_of(const std::vector<std::string>& drift, const std::vector<std::string>& drift_prime,
                double noise, double noise_prime, double start_variance) {
  const auto d = static_cast<Index>(drift.size());
  const GaussianDistribution start{VectorXd::Zero(d), Isotropic{start_variance, d}};
  const std::vector<std::string> names = coordinate_names(d);
  return {{formula_diffusion(names, drift, Covariance(Isotropic{noise, d})), start},
          {formula_diffusion(names, drift_prime, Covariance(Isotropic{noise_prime, d})), start}};
}

double value(const KlBound& bound) {
  EXPECT_EQ(bound.reason, "");
  return bound.kl.value.value();
}

const std::vector<std::string> kFive = {"-x1 + 0.3*sin(x2)", "-2*x2 + 0.1*cos(x3)", "-x3",
                                        "-x4 + 0.2*tanh(x1)", "-x5"};
const std::vector<std::string> kFivePrime = {"-x1 + 0.3*sin(x2) + 0.05", "-2*x2 + 0.1*cos(x3)",
                                             "-x3", "-x4 + 0.2*tanh(x1)", "-x5"};

TEST(MatchedPair, FiveDimensions) {
  const SdePair forward = pair_of(kFive, kFivePrime, 0.5, 0.55, 0.2), reverse{forward.q, forward.p};
  // Gaussian fits to simulations have 0.0107, 0.0155; 0.0114, 0.0166.
  for (const auto& [pair, time, fit, largest] : {std::tuple{&forward, 1.0, 0.0107, 0.0198},
                                                 {&forward, 5.0, 0.0155, 0.0508},
                                                 {&reverse, 1.0, 0.0114, 0.0217},
                                                 {&reverse, 5.0, 0.0166, 0.0559}}) {
    EXPECT_GT(value(matched_constants_bound(*pair, time)), fit);
    EXPECT_LT(value(matched_constants_bound(*pair, time)), largest);
  }
  EXPECT_LT(value(matched_constants_bound(forward, kInf)), 0.06);
}

TEST(MatchedPair, BlocksSeparate) {
  const SdePair pair = pair_of(kFive, kFivePrime, 0.5, 0.55, 0.2);
  const auto blocks = independent_blocks(pair);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0], (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(blocks[1], (std::vector<Index>{4}));
  const SdePair last = restricted(pair, blocks[1]);
  ASSERT_TRUE(last.linear.has_value());
  EXPECT_DOUBLE_EQ(last.linear->p.curvature(0, 0), 1.0);
}

TEST(MatchedPair, LinearFormulasAreExact) {
  const SdePair pair = pair_of({"-x", "0.2 - 2 y"}, {"-1.1 x", "0.3 - 2 y"}, 1.0, 1.2, 0.3);
  const GaussianDistribution start{VectorXd::Zero(2), Isotropic{0.3, 2}};
  Eigen::MatrixXd a = Eigen::Vector2d(1.0, 2.0).asDiagonal(),
                  a_prime = Eigen::Vector2d(1.1, 2.0).asDiagonal();
  const OuPair linear{{a, Eigen::Vector2d(0.0, 0.2), Isotropic{1.0, 2}},
                      start,
                      {a_prime, Eigen::Vector2d(0.0, 0.3), Isotropic{1.2, 2}},
                      start};
  EXPECT_NEAR(value(matched_constants_bound(pair, 1.5)), exact_kl(linear, 1.5).value.value(),
              1e-12);
}

TEST(MatchedPair, WhatDoesNotDifferAddsNothing) {
  // Two nonlinear coordinates that both sides share, and one that differs in its own block, with equal noise.
  const SdePair pair = pair_of({"-x1 + sin(x1)", "-x2^3", "-x3"},
                               {"-x1 + sin(x1)", "-x2^3", "-x3 + 0.1"}, 1.0, 1.0, 0.5);
  const SdePair alone = pair_of({"-x"}, {"-x + 0.1"}, 1.0, 1.0, 0.5);
  EXPECT_NEAR(value(matched_constants_bound(pair, 2.0)), value(matched_constants_bound(alone, 2.0)),
              1e-12);
  EXPECT_EQ(value(matched_constants_bound(pair_of({"-x^3"}, {"-x^3"}, 1.0, 1.0, 0.1), 1.0)), 0.0);
}

TEST(MatchedPair, DoubleWells) {
  // Equal noise: only the difference and a one-sided constant are needed, here kappa = -1, the path form.
  EXPECT_NEAR(
      value(matched_constants_bound(pair_of({"x - x^3"}, {"x - x^3 + 0.2"}, 0.5, 0.5, 0.2), 3.0)),
      0.5 * 0.04 / 0.5 * 3.0, 1e-6);
  // Different noise needs the Jacobian in a box.
  const KlBound none =
      matched_constants_bound(pair_of({"x - x^3"}, {"x - x^3 + 0.2"}, 0.5, 0.6, 0.2), 3.0);
  EXPECT_EQ(none.kl.value.value(), kInf);
  EXPECT_NE(none.reason.find("Jacobian"), std::string::npos);
}

TEST(MatchedPair, DriftsThatDifferInCurvature) {
  // b - b' = 0.1 x + 0.1 sin x is unbounded: moments of the first process bound it.
  const SdePair pair = pair_of({"-x + 0.2 sin(x)"}, {"-1.1 x + 0.1 sin(x)"}, 1.0, 1.1, 0.5);
  const double bound = value(matched_constants_bound(pair, 2.0));
  EXPECT_LT(bound, 0.2);
  EXPECT_LT(value(matched_constants_bound(pair, kInf)), 0.2);
}

TEST(MatchedPair, DoubleWellsThatDifferLinearly) {
  // Moments by growth: 2 x b + c x^2 is bounded for every c.
  const SdePair pair = pair_of({"x - x^3"}, {"1.1 x - x^3 + 0.2"}, 0.5, 0.5, 0.2);
  const double bound = value(matched_constants_bound(pair, 1.0));
  EXPECT_GT(bound, 0.5 * 0.04 / 0.5 * 0.9);  // about what 0.2 alone costs at first
  EXPECT_LT(bound, 0.3);
}

TEST(MatchedPair, SaysWhatIsMissing) {
  const SdePair far = pair_of({"x^2"}, {"x^2 + x"}, 1.0, 1.0, 0.5);
  EXPECT_NE(matched_constants_bound(far, 1.0).reason, "");
  EXPECT_FALSE(derived_constants(pair_of(kFive, kFivePrime, 0.5, 0.55, 0.2)).empty());
}

TEST(MatchedPair, JumpsAreNotLostInTheJacobian) {
  // b = -x + sign(x): away from 0 its Jacobian is -1, and yet it pushes apart, by a jump of 2 at 0.
  const GaussianDistribution start{VectorXd::Zero(1), Isotropic{0.5, 1}};
  const Covariance noise = Isotropic{1.0, 1};
  const auto flow = [&](const char* potential) {
    return StartedDiffusion{potential_diffusion({"x"}, potential, noise), start};
  };
  const SdePair outwards{flow("0.5*x^2 - abs(x)"), flow("0.5*x^2")};
  EXPECT_EQ(outwards.p.diffusion.contraction(noise), -kInf);
  EXPECT_FALSE(restricted(outwards, {0}).linear.has_value());
  // The grid has 0.359; |b - b'| <= 1 and kappa' = 1 give tanh(1/2).
  const double bound = value(matched_constants_bound(outwards, 1.0));
  EXPECT_GT(bound, 0.359);
  EXPECT_NEAR(bound, std::tanh(0.5), 1e-4);
  const SdePair reverse{outwards.q, outwards.p};  // the second drift has no rate
  EXPECT_NE(matched_constants_bound(reverse, 1.0).reason, "");
  // A jump downwards pulls together.
  const SdePair inwards{flow("0.5*x^2 + abs(x)"), flow("0.5*x^2")};
  EXPECT_NEAR(inwards.p.diffusion.contraction(noise), 1.0, 1e-12);
}

TEST(MatchedPair, TransientsOfStiffDriftsAreSeen) {
  // p falls from 1e4 to 0 within 1e-7; q stays at 1e4 with variance about 1.1: KL about 1e8/2.2 at time 1.
  SdePair pair = pair_of({"-1e7*x + 0.1*sin(x)"}, {"0.1*sin(x)"}, 1.0, 1.0, 0.1);
  pair.p.start.mean(0) = pair.q.start.mean(0) = 1e4;
  EXPECT_GT(value(matched_constants_bound(pair, 1.0)), 4.5e7);
}

}  // namespace
}  // namespace sfumato
