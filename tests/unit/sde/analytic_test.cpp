// Numbers of Spec §12.1, §12.3, §14.11 and of the errata.
#include "sfumato/sde/problem/analytic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sfumato/math/expression.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

VectorXd drift(const Diffusion& diffusion, const VectorXd& at) {
  const Points point = at.transpose().array();
  Points out(1, at.size());
  diffusion.drift(0.0, point, out);
  return out.matrix().transpose();
}

/// KL between two normal laws in one dimension.
double kl(const AnalyticPair& pair, double time) {
  const GaussianLaw p = OuLaw(pair.exact->p, pair.start).at(time);
  const GaussianLaw q = OuLaw(pair.exact->q, pair.start).at(time);
  const double ratio = trace(p.covariance) / trace(q.covariance);
  const double gap = (p.mean - q.mean).squaredNorm() / trace(q.covariance);
  return 0.5 * (ratio - 1.0 - std::log(ratio) + gap);
}

TEST(Analytic, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const AnalyticPair& pair : analytic_pairs()) {
    EXPECT_TRUE(names.insert(pair.name).second) << pair.name;
    EXPECT_EQ(&analytic_pair(pair.name), &pair);
    EXPECT_FALSE(pair.description.empty());
    EXPECT_EQ(pair.p.dimension, pair.q.dimension);
    EXPECT_EQ(pair.start.mean.size(), pair.p.dimension);
  }
  try {
    (void)analytic_pair("double_well_eqal");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("Did you mean `double_well_equal`?"),
              std::string::npos);
  }
}

TEST(Analytic, LinearDriftsAreThoseOfTheirProcesses) {
  for (const AnalyticPair& pair : analytic_pairs()) {
    if (!pair.exact) continue;
    const VectorXd at = VectorXd::LinSpaced(pair.p.dimension, 0.3, 1.0);
    EXPECT_TRUE(
        drift(pair.p, at).isApprox(pair.exact->p.pull - pair.exact->p.curvature * at, 1e-14));
    EXPECT_TRUE(
        drift(pair.q, at).isApprox(pair.exact->q.pull - pair.exact->q.curvature * at, 1e-14));
  }
}

TEST(Analytic, KnownDivergences) {
  EXPECT_NEAR(kl(analytic_pair("ou_unequal_noise"), 0.5), 0.00856897, 5e-9);
  EXPECT_NEAR(kl(analytic_pair("ou_unequal_noise"), 2.0), 0.0365141, 5e-8);
  EXPECT_NEAR(kl(analytic_pair("ou_unequal_noise"), 20.0), 0.0472674, 5e-8);
  EXPECT_NEAR(kl(analytic_pair("ou_far_shift"), 20.0), 1111.11, 5e-3);
  EXPECT_NEAR(kl(analytic_pair("ou_far_start"), 0.5), 1317.4, 0.05);
  EXPECT_NEAR(kl(analytic_pair("ou_noise_ratio"), 50.0), 4994.9, 0.05);
  EXPECT_NEAR(kl(analytic_pair("ou_path_time"), 1.0), 32.95, 5e-3);
  // Spec §6.3, constant D: (D/kappa) tanh(kappa t/2), attained.
  EXPECT_NEAR(kl(analytic_pair("ou_sharp"), 1.3), std::tanh(0.65), 1e-14);
  const auto law =
      OuLaw(analytic_pair("ou_no_commute").exact->p, analytic_pair("ou_no_commute").start);
  const Eigen::MatrixXd limit = dense(law.at(HUGE_VAL).covariance);
  EXPECT_NEAR(limit(0, 0), 0.2357, 5e-5);
  EXPECT_NEAR(limit(0, 1), 0.0571, 5e-5);
  EXPECT_NEAR(limit(1, 1), 0.2214, 5e-5);
}

TEST(Analytic, PathBoundOfTheExample) {
  // Spec §12.1: (1/2) int_0^1 E (b - b')^2 ds = 0.0791260509, here by Simpson's rule.
  const AnalyticPair& pair = analytic_pair("ou_path_bound");
  const OuLaw law(pair.exact->p, pair.start);
  const auto rate = [&](double s) {
    const GaussianLaw now = law.at(s);
    const double mean = now.mean(0);
    const double variance = trace(now.covariance);
    // b - b' = -x + 1.5 (x - 0.3) = x/2 - 0.45
    return 0.5 * (std::pow(0.5 * mean - 0.45, 2) + 0.25 * variance);
  };
  const int n = 200;
  double sum = rate(0.0) + rate(1.0);
  for (int k = 1; k < n; ++k) sum += (k % 2 == 1 ? 4.0 : 2.0) * rate(static_cast<double>(k) / n);
  EXPECT_NEAR(sum / (3.0 * n), 0.0791260509, 5e-11);
  EXPECT_NEAR(
      drift(pair.p, VectorXd::Constant(1, 0.7))(0) - drift(pair.q, VectorXd::Constant(1, 0.7))(0),
      0.35 - 0.45, 1e-15);
}

TEST(Analytic, PrintedPhiOfTheMultiplicativePairIsZero) {
  const AnalyticPair& pair = analytic_pair("multiplicative");
  const auto& noise = std::get<DiagonalNoise>(pair.p.noise);
  for (const double x : {-2.0, -0.3, 0.0, 0.9, 3.0}) {
    const Points at = Points::Constant(1, 1, x);
    Points sigma(1, 1);
    Points slope(1, 1);
    noise.variances(0.0, at, sigma);
    noise.divergence(0.0, at, slope);
    EXPECT_DOUBLE_EQ(sigma(0, 0), 1 + 0.5 / (1 + x * x));
    const double h = drift(pair.p, VectorXd::Constant(1, x))(0) - slope(0, 0);
    const double other = drift(pair.q, VectorXd::Constant(1, x))(0);
    // grad log q = -2x: q starts at its invariant law N(0, 1/2) and stays there.
    EXPECT_NEAR((1.0 - sigma(0, 0)) * (-2.0 * x) - (other - h), 0.0, 1e-15);
  }
}

TEST(Analytic, WellsAreThoseOfTheGoldenFile) {
  const AnalyticPair& pair = analytic_pair("wells_2d");
  const double x = 0.7;
  const double y = -0.2;
  const Eigen::Vector2d b(x - x * x * x + (y - x / 2), -2 * (y - x / 2));
  EXPECT_TRUE(drift(pair.p, Eigen::Vector2d(x, y)).isApprox(b, 1e-14));
  EXPECT_TRUE(drift(pair.q, Eigen::Vector2d(x, y)).isApprox(b + Eigen::Vector2d(0.2, 0.1), 1e-14));
  const AnalyticPair& well = analytic_pair("double_well_unequal");
  EXPECT_NEAR(
      drift(well.q, VectorXd::Constant(1, x))(0) - drift(well.p, VectorXd::Constant(1, x))(0),
      0.2 + 0.1 * x, 1e-15);
  EXPECT_EQ(trace(*constant_noise(well.q)), 0.8);
  EXPECT_EQ(trace(*constant_noise(analytic_pair("double_well_equal").q)), 0.64);
}

}  // namespace
}  // namespace sfumato
