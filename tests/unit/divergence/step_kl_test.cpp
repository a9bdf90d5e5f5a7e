// Values, edges and refusals of Spec §8.1, §8.5 and §8.6.
#include "sfumato/divergence/step_kl.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"

namespace sfumato {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

VectorXd one(double value) { return VectorXd::Constant(1, value); }

double step_kl(double learning_rate, const VectorXd& gradient, const VectorXd& gradient_prime,
               const VectorXd& variances, const VectorXd& variances_prime) {
  const auto entries = [](const VectorXd& v) { return std::span(v.data(), std::size_t(v.size())); };
  return step_kl_by_coordinate(learning_rate, entries(gradient), entries(gradient_prime),
                               entries(variances), entries(variances_prime))
      .nats;
}

TEST(StepKl, Values) {
  EXPECT_DOUBLE_EQ(step_kl(0.5, one(3), one(1), one(2), one(2)), 0.25);
  EXPECT_DOUBLE_EQ(step_kl(0.5, one(1), one(1), one(2), one(1)), 0.5 * (1.0 - std::log(2.0)));
}

TEST(StepKl, Zeros) {
  EXPECT_EQ(step_kl(1, one(1), one(1), one(0), one(0)), 0.0);
  EXPECT_EQ(step_kl(1, one(1), one(2), one(0), one(0)), kInf);
  EXPECT_EQ(step_kl(1, one(1), one(1), one(0), one(1)), kInf);
  EXPECT_EQ(step_kl(1, one(1), one(1), one(1), one(0)), kInf);
}

// Erratum 28: the part that no noise level removes.
TEST(StepKl, GradientScaledNoise) {
  EXPECT_NEAR(gradient_scaled_step_kl(.1, .01, one(1e-3), one(1.1e-3)), 0.00220509, 5e-9);
  EXPECT_NEAR(gradient_scaled_step_kl(.1, 100, one(1e-3), one(1.1e-3)), 0.00220054, 5e-9);
  EXPECT_NEAR(gradient_scaled_step_kl(.1, 100, one(1e-3), one(1e-9)), 499993, 1);
  EXPECT_EQ(gradient_scaled_step_kl(.1, 100, one(1e-3), one(0)), kInf);
  EXPECT_EQ(gradient_scaled_step_kl(.1, 100, one(0), one(0)), 0.0);
}

TEST(StepKl, LayerMaximum) {
  EXPECT_NEAR(layer_max_step_kl(.1, .01, Vector2d(.5, .1), Vector2d(.4, 0)), 0.05185644868579024,
              1e-15);
  // 7840 parameters, the maximum 1 % larger: 0.195 whatever the noise.
  VectorXd g = VectorXd::Zero(7840);
  VectorXd g_prime = g;
  g(0) = 1.01;
  g_prime(0) = 1.0;
  EXPECT_NEAR(layer_max_step_kl(.1, 1e6, g, g_prime), 0.195, 1e-3);
  // Layers are apart: the second has neither noise nor difference.
  EXPECT_DOUBLE_EQ(layer_max_step_kl(.1, .01, Vector2d(.5, 0), Vector2d(.4, 0), {1, 1}),
                   gradient_scaled_step_kl(.1, .01, Vector2d(.5, 0), Vector2d(.4, 0)));
}

TEST(StepKl, Floored) {
  EXPECT_NEAR(floored_step_kl(.1, .01, .05, Vector2d(.5, .1), Vector2d(.4, 0)), 0.2793546340629225,
              1e-15);
  // Attained at |g'| = c, |g| = c + s.
  const double bound = floored_step_kl_bound(.1, .01, .05, one(.2));
  EXPECT_NEAR(floored_step_kl(.1, .01, .05, one(.25), one(.05)), bound, 1e-14);
  EXPECT_LE(bound, .2 * .2 * (1 / (4 * .05 * .05) + .01 / (2 * .01 * .05)));
  EXPECT_EQ(floored_step_kl_bound(.1, .01, .05, one(0)), 0.0);
}

TEST(StepKl, NamesTheCoordinatesThatAreInfinite) {
  std::vector<double> g(1000, 1.0), g_prime = g, s(1000, 2.0), s_prime = s;
  for (const std::size_t i : {5U, 255U, 256U, 700U}) s[i] = 0.0;     // noise on one side only
  for (const std::size_t i : {6U, 257U}) s[i] = s_prime[i] = 0.0;    // no noise, same gradient
  for (const std::size_t i : {300U, 999U}) s[i] = s_prime[i] = 0.0;  // no noise, not the same
  for (const std::size_t i : {300U, 999U}) g_prime[i] = 1.5;
  StepKl got = step_kl_by_coordinate(0.1, g, g_prime, s, s_prime);
  EXPECT_EQ(got.nats, kInf);
  EXPECT_EQ(got.infinite, 6U);
  EXPECT_EQ(got.first_infinite, (std::vector<std::size_t>{5, 255, 256, 300, 700, 999}));
  for (double& value : s) value = 0.0;
  got = step_kl_by_coordinate(0.1, g, g_prime, s, s_prime);
  EXPECT_EQ(got.infinite, 998U);
  EXPECT_EQ(got.first_infinite, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 7, 8}));
}

TEST(StepKl, EqualWorldsGiveExactlyZero) {
  std::vector<double> g(777), s(777);
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] = std::sin(static_cast<double>(i));
    s[i] = std::abs(g[i]) * 1e-3;
  }
  const StepKl got = step_kl_by_coordinate(0.1, g, g, s, s);
  EXPECT_EQ(got.nats, 0.0);
  EXPECT_EQ(got.infinite, 0U);
  EXPECT_TRUE(got.first_infinite.empty());
}

// Ratios of variances over all of a double's range, near one and far away: to 1e-14 of the logarithm
// in extended precision.
TEST(StepKl, AccurateForAllRatios) {
  const auto check = [](double s, double s_prime) {
    const long double r = static_cast<long double>(s) / static_cast<long double>(s_prime);
    const long double u = (static_cast<long double>(s) - static_cast<long double>(s_prime)) /
                          static_cast<long double>(s_prime);
    long double psi = u - std::log(r);
    if (std::abs(u) < 0.3L) {
      psi = 0.0L;
      long double power = u;
      for (int k = 2; k < 60; ++k) {
        power *= -u;
        psi -= power / static_cast<long double>(k);
      }
    }
    const double want = static_cast<double>(0.5L * psi);
    EXPECT_NEAR(step_kl(1, one(0), one(0), one(s), one(s_prime)), want, 1e-14 * want)
        << s << " / " << s_prime;
  };
  for (int exponent = -300; exponent <= 300; exponent += 7) {
    for (const double m : {1.0, 0.7, 0.70711, 1.4142, 1.4143, 1.9}) {
      check(m * std::pow(10.0, exponent), 1.0);
      check(m * std::pow(2.0, exponent / 100), 1.0);
      check(3.7 * (1.0 + m * std::pow(10.0, -std::abs(exponent) / 20.0)), 3.7);
      check(3.7 * (1.0 - 0.5 * m * std::pow(10.0, -std::abs(exponent) / 20.0)), 3.7);
    }
  }
  EXPECT_NEAR(step_kl(1, one(0), one(0), one(1e-300), one(1e300)),
              0.5 * (600.0 * std::log(10.0) - 1.0), 1e-10);
}

// The general Gaussian KL (Spec §2) gives the same.
TEST(StepKl, IsTheKlOfTwoNormalDistributions) {
  VectorXd g(600), g_prime(600);
  for (int i = 0; i < 600; ++i) {
    g[i] = std::sin(i);
    g_prime[i] = std::sin(1.01 * i);
  }
  const VectorXd s = 0.3 * g.cwiseAbs().array() + 1e-6;
  const VectorXd s_prime = 0.3 * g_prime.cwiseAbs().array() + 1e-6;
  const WhitenedPair pair = whiten(-0.1 * g, Diagonal{s}, -0.1 * g_prime, Diagonal{s_prime});
  const double kl = step_kl(0.1, g, g_prime, s, s_prime);
  EXPECT_NEAR(kl, gaussian_kl(pair).value.value(), 1e-12 * kl);
}

TEST(StepKl, Refusals) {
  EXPECT_THROW((void)step_kl(1, one(1), Vector2d(1, 1), one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)step_kl(1, one(1), one(1), one(-1), one(1)), InvalidArgument);
  EXPECT_THROW((void)step_kl(-1, one(1), one(1), one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)step_kl(1, one(kInf), one(1), one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)gradient_scaled_step_kl(1, 0, one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)layer_max_step_kl(1, 1, one(1), one(1), {2}), InvalidArgument);
  EXPECT_THROW((void)floored_step_kl(1, 1, 0, one(1), one(1)), InvalidArgument);
  EXPECT_THROW((void)floored_step_kl_bound(1, 1, 1, one(-1)), InvalidArgument);
  const std::vector<double> f{1.0}, nan{std::nan("")}, two{1.0, 1.0};
  EXPECT_THROW((void)step_kl_by_coordinate(1, f, nan, f, f), InvalidArgument);
  EXPECT_THROW((void)step_kl_by_coordinate(1, f, f, nan, f), InvalidArgument);
  EXPECT_THROW((void)step_kl_by_coordinate(1, f, f, f, two), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
