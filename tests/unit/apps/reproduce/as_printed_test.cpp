// The counterexamples of docs/errata.md to the digits given there: the printed value fails, ours
// holds.
#include "reproduce/as_printed.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"

namespace sfumato::apps {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double value(const KlBound& bound) { return bound.kl.value.value(); }

OuProcess scalar(double rate, double target, double variance) {
  return {MatrixXd::Constant(1, 1, rate), VectorXd::Constant(1, rate * target),
          Isotropic{variance, 1}};
}

GaussianDistribution normal(double mean, double variance) {
  return {VectorXd::Constant(1, mean), Isotropic{variance, 1}};
}

double exact(const OuPair& pair, double time) { return exact_kl(pair, time).value.value(); }

/// Isotropic quadratics in d dimensions: curvature k I, minimiser at `target` times the first axis.
OuPair isotropic(int d, double k, double target, double variance, double k_prime,
                 double target_prime, double variance_prime, double start) {
  const auto process = [d](double rate, double at, double noise) -> OuProcess {
    VectorXd pull = VectorXd::Zero(d);
    pull(0) = rate * at;
    return {rate * MatrixXd::Identity(d, d), pull, Isotropic{noise, d}};
  };
  VectorXd point = VectorXd::Zero(d);
  point(0) = start;
  return {process(k, target, variance), point_distribution(point),
          process(k_prime, target_prime, variance_prime), point_distribution(point)};
}

LangevinConstants constants(int d, double k, double variance, double k_prime, double variance_prime,
                            double distance, double start) {
  return {{k, k}, {k_prime, k_prime}, variance, variance_prime, d, distance, start};
}

TEST(AsPrinted, Erratum1TheHalvesOfPhi) {
  const OuPair pair{scalar(0.5, 0, 0.75), normal(0, 0.5), scalar(1, 0, 1), normal(0, 0.5)};
  const struct {
    double time, kl, corrected;
  } rows[] = {{0.5, 0.00856897, 0.0115264}, {2, 0.0365141, 0.0534931}, {20, 0.0472674, 0.614583}};
  for (const auto& row : rows) {
    const as_printed::Printed printed = as_printed::entropy_bound(pair, row.time);
    EXPECT_NEAR(printed.value, 0.0, 1e-15);
    EXPECT_FALSE(printed.valid);
    EXPECT_NE(printed.reason.find("below the exact KL"), std::string::npos) << printed.reason;
    EXPECT_NEAR(exact(pair, row.time), row.kl, 6e-6 * row.kl);
    EXPECT_NEAR(value(entropy_rate_bounds(pair, row.time).primal), row.corrected,
                6e-6 * row.corrected);
  }
  EXPECT_NEAR(value(entropy_rate_bounds(pair, 20).primal), 0.6145833, 6e-8);
}

TEST(AsPrinted, Erratum1SameDriftIsFourTimesTooLarge) {
  const OuPair pair{scalar(1, 0, 1), normal(0, 0.3), scalar(1, 0, 1.5), normal(0, 0.3)};
  const as_printed::Printed printed = as_printed::entropy_bound(pair, 0.5);
  const double ours = value(entropy_rate_bounds(pair, 0.5).primal);
  EXPECT_NEAR(printed.value, 4.0 * ours, 1e-10 * ours);
  EXPECT_TRUE(printed.valid);
}

TEST(AsPrinted, EqualNoiseAgrees) {
  const OuPair pair{scalar(1, 0, 1), normal(0, 0.0), scalar(1.5, 0.3, 1), normal(0, 0.0)};
  const as_printed::Printed printed = as_printed::entropy_bound(pair, 1.0);
  EXPECT_DOUBLE_EQ(printed.value, value(entropy_rate_bounds(pair, 1.0).primal));
  EXPECT_TRUE(printed.valid);
}

TEST(AsPrinted, Erratum2PointStartsDiverge) {
  const OuPair pair{scalar(1, 0, 1), normal(0, 0), scalar(1, 0, 1.5), normal(0, 0)};
  EXPECT_EQ(as_printed::entropy_bound(pair, 1.0).value, kInf);
  EXPECT_EQ(value(entropy_rate_bounds(pair, 1.0).primal), kInf);
  // KL(0+) is that of the noises.
  const double noise = gaussian_kl(whiten(normal(0, 1), normal(0, 1.5))).value.value();
  EXPECT_NEAR(exact(pair, 1e-9), noise, 1e-9);
  EXPECT_GT(noise, 0.02);
}

TEST(AsPrinted, Erratum3TheGibbsDistribution) {
  // f = x^2/2, sigma = 1: exp(-2 f) has variance 1/2; the printed exp(-f/2) has variance 2.
  const OuDistribution distribution(scalar(1, 0, 1), normal(0, 0));
  EXPECT_DOUBLE_EQ(trace(distribution.at(kInf).covariance), 0.5);
}

TEST(AsPrinted, Erratum4And5TheLogSobolevConstant) {
  const as_printed::Printed small = as_printed::lsi_constant(4.0, 1.0, 0.0, kInf);
  EXPECT_DOUBLE_EQ(small.value, 1.0);
  EXPECT_FALSE(small.valid);
  EXPECT_DOUBLE_EQ(lsi_constant(4.0, 1.0, 0.0, kInf), 4.0);
  const as_printed::Printed large = as_printed::lsi_constant(0.25, 2.0, 0.0, kInf);
  EXPECT_DOUBLE_EQ(large.value, 8.0);
  EXPECT_TRUE(large.valid);
  EXPECT_DOUBLE_EQ(lsi_constant(0.25, 2.0, 0.0, kInf), 0.125);
  EXPECT_NEAR(as_printed::lsi_constant(1.0, 1.0, 10.0, 1.0).value, 7.64, 5e-3);  // below C_0 = 10
}

TEST(AsPrinted, Erratum6TheFirstProposition) {
  const struct {
    const char* name;
    OuPair pair;
    LangevinConstants constants;
    double time, kl, printed, ours;
  } rows[] = {{"a", isotropic(1, 1, 0, 9, 1, 100, 9, 0), constants(1, 1, 9, 1, 9, 100, 0), 20,
               1111.11, 440.41, 1111.11},
              {"b", isotropic(30, 1, 0, 1, 2, 0, 1, 0), constants(3000, 1, 1, 2, 1, 0, 0), 20,
               4.6028, 432.0, 750.0},
              {"c", isotropic(1, 1, 0, 1, 2, 0, 1, 100), constants(1, 1, 1, 2, 1, 0, 1e4), 0.5,
               1317.4, 432.0, 1344.8}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const double kl = exact(row.pair, row.time);
    EXPECT_NEAR(kl, row.kl, 5e-5 * row.kl);
    // (b) is computed in 30 of its 3000 equal dimensions.
    const double scale =
        static_cast<double>(row.constants.dimension) / static_cast<double>(row.pair.p.pull.size());
    const auto printed = as_printed::uniform_proposition(row.constants, 0.0, kl * scale);
    EXPECT_NEAR(printed.value, row.printed, 5e-3);
    EXPECT_FALSE(printed.valid);
    const double ours = value(kl_bound_finite_time(row.constants, row.time));
    EXPECT_NEAR(ours, row.ours, 5e-5 * row.ours);
    EXPECT_GE(ours, kl * scale * (1.0 - 1e-12));
    EXPECT_FALSE(as_printed::uniform_proposition(row.constants, 0.0).valid);  // nothing to compare
  }
  // (d): same f, sigma = 10 and 0.1.
  const double kl = exact(isotropic(1, 1, 0, 100, 1, 0, 0.01, 0), 20);
  EXPECT_NEAR(kl, 4994.9, 0.1);
  const auto printed =
      as_printed::uniform_proposition(constants(1, 1, 100, 1, 0.01, 0, 0), 0.0, kl);
  EXPECT_NEAR(printed.value, 97.9, 0.05);
  EXPECT_FALSE(printed.valid);
}

TEST(AsPrinted, Erratum10TheSecondProposition) {
  const double stationary = exact(isotropic(1, 1, 0, 1, 1, 10, 1, 0), kInf);
  EXPECT_NEAR(stationary, 100.0, 1e-10);
  const LangevinConstants unit = constants(1, 1, 1, 1, 1, 10, 0);
  EXPECT_NEAR(as_printed::stationary_proposition(unit, stationary).value, 51.5, 1e-12);
  EXPECT_FALSE(as_printed::stationary_proposition(unit, stationary).valid);
  EXPECT_NEAR(value(kl_bound_stationary(unit)), 100.0, 1e-12);
  const double noisier = exact(isotropic(1, 1, 0, 4, 1, 10, 4, 0), kInf);
  EXPECT_NEAR(noisier, 25.0, 1e-10);
  const LangevinConstants two = constants(1, 1, 4, 1, 4, 10, 0);
  EXPECT_NEAR(as_printed::stationary_proposition(two, noisier).value, 0.875, 1e-12);
  EXPECT_NEAR(value(kl_bound_stationary(two)), 25.0, 1e-12);
}

TEST(AsPrinted, Erratum11TheConvergenceLemma) {
  const as_printed::Printed printed = as_printed::convergence_lemma(1.0, 1.0, 100.0, 1.0);
  EXPECT_NEAR(printed.value, 0.385, 5e-4);
  EXPECT_FALSE(printed.valid);
  EXPECT_NEAR(0.5 * mean_square_distance_bound(1.0, 1.0, 100.0, 1.0), 6.983, 5e-4);
  EXPECT_TRUE(as_printed::convergence_lemma(1.0, 1.0, 1.0, 1.0).valid);
}

TEST(AsPrinted, Erratum12TheFinalDistributionUnderTheIntegral) {
  const OuPair pair{scalar(2, 0, 1), normal(10, 0), scalar(0.1, 0, 1), normal(10, 0)};
  EXPECT_NEAR(exact(pair, 1.0), 32.95, 5e-3);
  const auto literal =
      as_printed::noise_norm_bound(pair, 1.0, as_printed::Under::final_distribution);
  EXPECT_NEAR(literal.value, 7.498, 5e-4);
  EXPECT_FALSE(literal.valid);
  const auto meant =
      as_printed::noise_norm_bound(pair, 1.0, as_printed::Under::running_distribution);
  EXPECT_NEAR(meant.value, 89.28, 5e-3);
  EXPECT_TRUE(meant.valid);
  EXPECT_NEAR(value(path_bound(pair, 1.0)), 0.5 * meant.value, 1e-9);
}

TEST(AsPrinted, Erratum15TheCovarianceWithoutCommutation) {
  const MatrixXd a = (Matrix2d() << 2, .5, .5, 1).finished();
  const MatrixXd sigma = (Matrix2d() << 1, .4, .4, .5).finished();
  const auto printed = as_printed::quadratic_covariance({a, VectorXd::Zero(2), Dense{sigma}}, kInf);
  EXPECT_FALSE(printed.valid);
  EXPECT_NEAR(printed.value(0, 0), .2286, 5e-5);
  EXPECT_NEAR(printed.value(0, 1), .0429, 5e-5);
  EXPECT_NEAR(printed.value(1, 0), .0857, 5e-5);
  EXPECT_NEAR(printed.value(1, 1), .2286, 5e-5);
  const OuProcess commuting{a, VectorXd::Zero(2), Isotropic{0.7, 2}};
  const auto same = as_printed::quadratic_covariance(commuting, 1.3);
  EXPECT_TRUE(same.valid);
  const OuDistribution distribution(commuting, point_distribution(VectorXd::Zero(2)));
  EXPECT_LE((same.value - dense(distribution.at(1.3).covariance)).norm(), 1e-15);
}

TEST(AsPrinted, Refusals) {
  const OuPair unequal{scalar(1, 0, 1), normal(0, 1), scalar(1, 0, 2), normal(0, 1)};
  EXPECT_THROW(
      (void)as_printed::noise_norm_bound(unequal, 1.0, as_printed::Under::final_distribution),
      InvalidArgument);
  const OuPair silent{scalar(1, 0, 0), normal(0, 1), scalar(2, 0, 0), normal(0, 1)};
  EXPECT_THROW(
      (void)as_printed::noise_norm_bound(silent, 1.0, as_printed::Under::final_distribution),
      NumericalFailure);
  EXPECT_THROW((void)as_printed::entropy_bound(unequal, kInf), InvalidArgument);
  EXPECT_THROW((void)as_printed::entropy_bound(unequal, -1.0), InvalidArgument);
  EXPECT_THROW((void)as_printed::quadratic_covariance(scalar(0, 0, 1), 1.0), NumericalFailure);
}

}  // namespace
}  // namespace sfumato::apps
