// Spec §14, item 4, and the formulas of Spec §5 over random problems.
#include "sfumato/sde/ou_distribution.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <unsupported/Eigen/MatrixFunctions>

#include "sfumato/core/infinity.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;
using Shape = RandomProblem::Shape;

constexpr int kCases = 1200;

Shape shape_of(std::uint64_t seed) {
  return seed % 3 == 0 ? Shape::singular : seed % 3 == 1 ? Shape::indefinite : Shape::definite;
}

void expect_near(const MatrixXd& got, const MatrixXd& expected, double tolerance) {
  const double scale = std::max(1.0, expected.cwiseAbs().maxCoeff());
  EXPECT_LE((got - expected).cwiseAbs().maxCoeff(), tolerance * scale) << "got\n"
                                                                       << got << "\nexpected\n"
                                                                       << expected;
}

/// The distribution by exponentials of block matrices (Van Loan), without eigenvalues or phi1.
GaussianDistribution by_block_exponential(const OuProcess& process,
                                          const GaussianDistribution& start, double time) {
  const Index d = process.pull.size();
  MatrixXd affine = MatrixXd::Zero(d + 1, d + 1);
  affine.topLeftCorner(d, d) = -process.curvature * time;
  affine.topRightCorner(d, 1) = process.pull * time;
  const MatrixXd flow = affine.exp();
  const MatrixXd decay = flow.topLeftCorner(d, d);
  MatrixXd block = MatrixXd::Zero(2 * d, 2 * d);
  block.topLeftCorner(d, d) = process.curvature * time;
  block.topRightCorner(d, d) = dense(process.noise) * time;
  block.bottomRightCorner(d, d) = -process.curvature * time;
  const MatrixXd exponential = block.exp();
  const MatrixXd spread = decay * exponential.topRightCorner(d, d);
  return {decay * start.mean + flow.topRightCorner(d, 1),
          Dense{spread + decay * dense(start.covariance) * decay}};
}

TEST(OuDistributionProperty, AgreesWithBlockExponentials) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(seed);
    const Index d = random.integer(1, 5);
    const OuProcess process = random.process(d, shape_of(seed));
    const GaussianDistribution start = random.start(d);
    const double time = random.log_uniform(1e-3, 1.0);
    const GaussianDistribution got = OuDistribution(process, start).at(time);
    const GaussianDistribution expected = by_block_exponential(process, start, time);
    expect_near(got.mean, expected.mean, 1e-11);
    // The blocks grow like e^{At} and shrink again: rounding grows with them.
    expect_near(dense(got.covariance), dense(expected.covariance),
                1e-13 * std::exp(2.0 * time * process.curvature.norm()));
  }
}

TEST(OuDistributionProperty, CovarianceSolvesItsEquation) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(1'000'000 + seed);
    const Index d = random.integer(1, 6);
    const OuProcess process = random.process(d, shape_of(seed));
    const OuDistribution distribution(process, random.start(d));
    const double time = random.log_uniform(0.05, 3.0);
    const double step = 1e-3 * time;
    const auto covariance = [&distribution](double t) {
      return dense(distribution.at(t).covariance);
    };
    const MatrixXd slope = (8.0 * (covariance(time + step) - covariance(time - step)) -
                            (covariance(time + 2 * step) - covariance(time - 2 * step))) /
                           (12.0 * step);
    const MatrixXd v = covariance(time);
    const MatrixXd& a = process.curvature;
    expect_near(slope, dense(process.noise) - a * v - v * a, 1e-7);
    const VectorXd drift =
        (distribution.displacement(time + step) - distribution.displacement(time - step)) /
        (2.0 * step);
    expect_near(drift, process.pull - a * distribution.at(time).mean, 1e-3);
    expect_near(distribution.at(0.0).mean + distribution.displacement(time),
                distribution.at(time).mean, 1e-12);
  }
}

TEST(OuDistributionProperty, Semigroup) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(2'000'000 + seed);
    const Index d = random.integer(1, 8);
    const OuProcess process = random.process(d, shape_of(seed));
    const OuDistribution distribution(process, random.start(d));
    const double first = random.log_uniform(1e-6, 5.0);
    const double second = random.log_uniform(1e-6, 5.0);
    const GaussianDistribution whole = distribution.at(first + second);
    const GaussianDistribution parts = OuDistribution(process, distribution.at(first)).at(second);
    expect_near(parts.mean, whole.mean, 1e-11);
    expect_near(dense(parts.covariance), dense(whole.covariance), 1e-11);
  }
}

TEST(OuDistributionProperty, LongRun) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(3'000'000 + seed);
    const Index d = random.integer(1, 8);
    const OuProcess process = random.process(d, Shape::definite);
    const OuDistribution distribution(process, random.start(d));
    const GaussianDistribution limit = distribution.at(kInf);
    const MatrixXd& a = process.curvature;
    const MatrixXd sigma = dense(process.noise);
    const MatrixXd v = dense(limit.covariance);
    expect_near(a * v + v * a, sigma, 1e-12);
    expect_near(a * limit.mean, process.pull, 1e-12);
    const GaussianDistribution late = distribution.at(500.0);  // e^{-50} at the slowest rate, 0.1
    expect_near(late.mean, limit.mean, 1e-12);
    expect_near(dense(late.covariance), v, 1e-12);
    const VectorXd minimiser = a.inverse() * process.pull;
    EXPECT_NEAR(distribution.error(kInf, minimiser), 0.5 * (a.inverse() * sigma).trace(),
                1e-11 * sigma.trace());
    EXPECT_NEAR(distribution.excess_loss(kInf).value(), sigma.trace() / 4.0, 1e-12 * sigma.trace());
  }
}

TEST(OuDistributionProperty, NoLongRunWhereNoiseMeetsNoPullBack) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(4'000'000 + seed);
    const Index d = random.integer(1, 6);
    const Shape shape = seed % 2 == 0 ? Shape::singular : Shape::indefinite;
    OuProcess process = random.process(d, shape);
    process.noise = Isotropic{random.log_uniform(0.1, 10.0), d};
    const OuDistribution distribution(process, random.start(d));
    const LongRunDistribution limit = distribution.long_run();
    EXPECT_FALSE(limit.distribution.has_value());
    EXPECT_NE(limit.reason.find(shape == Shape::singular ? "is zero" : "is negative"),
              std::string::npos)
        << limit.reason;
    EXPECT_EQ(distribution.error(kInf, VectorXd::Zero(d)), kInf);
  }
}

TEST(OuDistributionProperty, ErrorAndExcessLossFollowFromTheMoments) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(5'000'000 + seed);
    const Index d = random.integer(1, 6);
    const Shape shape = seed % 2 == 0 ? Shape::singular : Shape::definite;
    OuProcess process = random.process(d, shape);
    const VectorXd minimiser = random.vector(d);
    process.pull = process.curvature * minimiser;
    const OuDistribution distribution(process, random.start(d));
    const double time = random.log_uniform(1e-4, 50.0);
    const GaussianDistribution at = distribution.at(time);
    const VectorXd gap = at.mean - minimiser;
    const MatrixXd v = dense(at.covariance);
    const double error = gap.squaredNorm() + v.trace();
    const double excess =
        0.5 * gap.dot(process.curvature * gap) + 0.5 * (process.curvature * v).trace();
    EXPECT_NEAR(distribution.error(time, minimiser), error, 1e-11 * std::max(1.0, error));
    ASSERT_TRUE(distribution.excess_loss(time).has_value());
    EXPECT_NEAR(*distribution.excess_loss(time), excess, 1e-11 * std::max(1.0, error));
  }
}

TEST(OuDistributionProperty, KindsOfCovarianceAndRotationsAgree) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(6'000'000 + seed);
    const Index d = random.integer(1, 6);
    const OuProcess process = random.process(d, shape_of(seed));
    const GaussianDistribution start = random.start(d);
    const double time = random.log_uniform(1e-3, 3.0);
    const GaussianDistribution at = OuDistribution(process, start).at(time);
    // A matrix with a negligible entry off the diagonal takes the dense road everywhere.
    OuProcess general{process.curvature, process.pull, Dense{dense(process.noise)}};
    if (d > 1) general.curvature(0, 1) = general.curvature(1, 0) += 1e-15;
    const GaussianDistribution same =
        OuDistribution(general, {start.mean, Dense{dense(start.covariance)}}).at(time);
    expect_near(same.mean, at.mean, 1e-12);
    expect_near(dense(same.covariance), dense(at.covariance), 1e-12);

    const MatrixXd q = random.rotation(d);
    const MatrixXd turned = q * process.curvature * q.transpose();
    const GaussianDistribution rotated =
        OuDistribution({0.5 * (turned + turned.transpose()), q * process.pull,
                        Dense{q * dense(process.noise) * q.transpose()}},
                       {q * start.mean, Dense{q * dense(start.covariance) * q.transpose()}})
            .at(time);
    expect_near(q.transpose() * rotated.mean, at.mean, 1e-11);
    expect_near(q.transpose() * dense(rotated.covariance) * q, dense(at.covariance), 1e-11);
  }
}

TEST(OuDistributionProperty, PairsFromDisplacementsAgreeWithPairsFromMeans) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(7'000'000 + seed);
    const Index d = random.integer(1, 5);
    OuProcess p = random.process(d, shape_of(seed));
    OuProcess q = random.process(d, shape_of(seed + 1));
    const MatrixXd root = random.matrix(d, d);
    p.noise = Dense{root * root.transpose() + MatrixXd::Identity(d, d)};
    q.noise = p.noise;
    const GaussianDistribution start = point_distribution(10.0 * random.vector(d));
    const double time = random.log_uniform(1e-2, 1.0);
    const OuDistribution distribution_p(p, start);
    const OuDistribution distribution_q(q, start);
    const WhitenedPair got = whiten_at(distribution_p, distribution_q, time);
    const WhitenedPair expected = whiten(distribution_p.at(time), distribution_q.at(time));
    ASSERT_EQ(got.mutually_singular, expected.mutually_singular);
    expect_near(got.shift.abs().matrix(), expected.shift.abs().matrix(), 1e-9);
    expect_near(got.excess.matrix(), expected.excess.matrix(), 1e-13);
  }
}

}  // namespace
}  // namespace sfumato
