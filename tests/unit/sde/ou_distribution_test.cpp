// Values, edges and refusals of Spec §5.
#include "sfumato/sde/ou_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

MatrixXd matrix(double a, double b, double c, double d) {
  return (Matrix2d() << a, b, c, d).finished();
}

// Values of the specification's golden file, function ou_moments.
TEST(OuDistribution, MomentsWithNoiseThatDoesNotCommute) {
  const MatrixXd a = matrix(2, .5, .5, 1);
  const VectorXd target = Vector2d(0.3, -0.2);
  const OuDistribution distribution({a, a * target, Dense{matrix(1, .4, .4, .5)}},
                                    {Vector2d(1, 1), Diagonal{Vector2d(.1, .2)}});
  const GaussianDistribution at = distribution.at(0.7);
  EXPECT_NEAR(at.mean(0), 0.3332533025788030, 1e-14);
  EXPECT_NEAR(at.mean(1), 0.3361955279320140, 1e-14);
  const MatrixXd v = dense(at.covariance);
  EXPECT_NEAR(v(0, 0), 0.2296319167742569, 1e-14);
  EXPECT_NEAR(v(0, 1), 0.05431758964017989, 1e-14);
  EXPECT_EQ(v(0, 1), v(1, 0));
  EXPECT_NEAR(v(1, 1), 0.2209967374938971, 1e-14);
  EXPECT_NEAR(distribution.error(0.7, target), 0.7392400805748427, 1e-13);
  EXPECT_NEAR(distribution.excess_loss(0.7).value(), 0.5210628206267006, 1e-13);
  EXPECT_NEAR(distribution.error(0.0, target), 2.23, 1e-14);
  EXPECT_NEAR(distribution.excess_loss(0.0).value(), 1.83, 1e-14);

  const MatrixXd limit = dense(distribution.at(kInf).covariance);
  EXPECT_NEAR(limit(0, 0), 0.2357142857142857, 1e-15);
  EXPECT_NEAR(limit(0, 1), 0.05714285714285714, 1e-15);
  EXPECT_NEAR(limit(1, 1), 0.2214285714285714, 1e-15);
  EXPECT_NEAR(distribution.error(kInf, target), 0.4571428571428571, 1e-14);  // 1/2 tr(A^-1 Sigma)
  EXPECT_NEAR(distribution.excess_loss(kInf).value(), 0.375, 1e-14);         // tr(Sigma) / 4
}

TEST(OuDistribution, MomentsOfASingularCurvature) {
  const OuDistribution distribution(
      {matrix(1, 0, 0, 0), Vector2d(.5, 0), Dense{matrix(1, .3, .3, 2)}},
      point_distribution(Vector2d(0, 0)));
  const GaussianDistribution at = distribution.at(2.0);
  EXPECT_NEAR(at.mean(0), 0.4323323583816937, 1e-15);
  EXPECT_EQ(at.mean(1), 0.0);
  const MatrixXd v = dense(at.covariance);
  EXPECT_NEAR(v(0, 0), 0.4908421805556329, 1e-15);
  EXPECT_NEAR(v(0, 1), 0.2593994150290162, 1e-15);
  EXPECT_EQ(v(1, 1), 4.0);
  EXPECT_NEAR(distribution.error(2.0, Vector2d(.5, 0)), 4.495421090277817, 1e-14);
  EXPECT_NEAR(distribution.excess_loss(2.0).value(), 0.2477105451389082, 1e-15);
  EXPECT_EQ(distribution.error(kInf, Vector2d(.5, 0)), kInf);
  EXPECT_DOUBLE_EQ(distribution.excess_loss(kInf).value(),
                   0.25);  // the flat direction adds nothing
}

TEST(OuDistribution, DiagonalProblemsStayDiagonalAndKeepExactZeros) {
  const OuDistribution distribution(
      {matrix(10, 0, 0, 1), Vector2d(10, 1), Dense{matrix(4, 0, 0, 0)}},
      {Vector2d(0, 0), Dense{MatrixXd::Zero(2, 2)}});
  const GaussianDistribution at = distribution.at(100.0);
  ASSERT_TRUE(std::holds_alternative<Diagonal>(at.covariance));
  EXPECT_DOUBLE_EQ(std::get<Diagonal>(at.covariance).variances(0), 0.2);
  EXPECT_EQ(std::get<Diagonal>(at.covariance).variances(1), 0.0);
}

TEST(OuDistribution, TimeZeroIsTheStartItself) {
  const OuDistribution distribution({matrix(2, 1, 1, 2), Vector2d(1, 0), Isotropic{1.0, 2}},
                                    point_distribution(Vector2d(0.1, 0.2)));
  const GaussianDistribution at = distribution.at(0.0);
  EXPECT_EQ(at.mean, VectorXd(Vector2d(0.1, 0.2)));
  EXPECT_EQ(std::get<Isotropic>(at.covariance).variance, 0.0);
  EXPECT_EQ(distribution.displacement(0.0), VectorXd(Vector2d(0, 0)));
}

TEST(OuDistribution, ShortTimesKeepTheirDigits) {
  // Scalar: m_t - m_0 = (pull - a m_0)(1 - e^{-at})/a, V_t = s^2 (1 - e^{-2at})/(2a).
  const OuDistribution distribution(
      {MatrixXd::Constant(1, 1, 3.0), VectorXd::Constant(1, 5.0), Isotropic{2.0, 1}},
      point_distribution(VectorXd::Constant(1, 1.0)));
  const double time = 1e-13;
  EXPECT_DOUBLE_EQ(distribution.displacement(time)(0), 2.0 * time * (1 - 1.5 * time));
  EXPECT_DOUBLE_EQ(diagonal_of(distribution.at(time).covariance)(0), 2.0 * time * (1 - 3.0 * time));

  const OuDistribution other(
      {MatrixXd::Constant(1, 1, 3.0), VectorXd::Constant(1, 6.0), Isotropic{2.0, 1}},
      point_distribution(VectorXd::Constant(1, 1.0)));
  const WhitenedPair pair = whiten_at(distribution, other, time);  // shift = t / sqrt(2 t)
  EXPECT_NEAR(pair.shift(0) / std::sqrt(0.5 * time), 1.0, 1e-12);
  EXPECT_NEAR(whiten_at(distribution, other, kInf).shift(0), (1.0 / 3.0) / std::sqrt(1.0 / 3.0),
              1e-15);
}

TEST(OuDistribution, FarStartsDoNotSpoilTheLongRun) {
  // Displacements from a start at 1e12 would leave 4 digits of the difference of the means.
  const auto distribution = [](double pull) {
    return OuDistribution(
        {MatrixXd::Constant(1, 1, 1.0), VectorXd::Constant(1, pull), Isotropic{2.0, 1}},
        point_distribution(VectorXd::Constant(1, 1e12)));
  };
  EXPECT_NEAR(whiten_at(distribution(1.0), distribution(1.5), 100.0).shift(0), 0.5, 1e-14);
}

TEST(OuDistribution, IndefiniteCurvatureGrowsAndFinallyOverflows) {
  const OuDistribution distribution({matrix(1, 0, 0, -1), Vector2d(0, 0), Isotropic{2.0, 2}},
                                    point_distribution(Vector2d(0, 1)));
  const GaussianDistribution at = distribution.at(3.0);
  EXPECT_NEAR(at.mean(1), std::exp(3.0), 1e-13);
  EXPECT_NEAR(diagonal_of(at.covariance)(1), std::exp(6.0) - 1.0, 1e-10);
  EXPECT_FALSE(distribution.excess_loss(3.0).has_value());
  EXPECT_THROW((void)distribution.at(1000.0), NumericalFailure);
  EXPECT_EQ(distribution.error(1000.0, Vector2d(0, 0)), kInf);

  const LongRunDistribution limit = distribution.long_run();
  EXPECT_FALSE(limit.distribution.has_value());
  EXPECT_NE(limit.reason.find("-1"), std::string::npos);
  EXPECT_THROW((void)distribution.at(kInf), NumericalFailure);
}

TEST(OuDistribution, AnUnstableDirectionAtRestWithoutNoiseStaysThere) {
  const OuDistribution distribution({matrix(2, 0, 0, -8), Vector2d(0, 0), Diagonal{Vector2d(1, 0)}},
                                    point_distribution(Vector2d(1, 0)));
  const GaussianDistribution at = distribution.at(100.0);  // e^{800} is infinite
  EXPECT_EQ(at.mean(1), 0.0);
  EXPECT_EQ(diagonal_of(at.covariance)(1), 0.0);
  EXPECT_DOUBLE_EQ(diagonal_of(at.covariance)(0), 0.25);
}

TEST(OuDistribution, FlatDirectionsWithoutNoiseOrPullStayAtTheirStart) {
  // Rank one, not diagonal: the flat direction is (1, -1)/sqrt 2.
  const MatrixXd a = matrix(1, 1, 1, 1);
  const OuDistribution distribution({a, Vector2d(2, 2), Factored{Vector2d(0, 0), Vector2d(1, 1)}},
                                    {Vector2d(5, 1), Isotropic{3.0, 2}});
  const LongRunDistribution limit = distribution.long_run();
  ASSERT_TRUE(limit.distribution.has_value()) << limit.reason;
  EXPECT_NEAR(limit.distribution->mean(0), 1.0 + 2.0, 1e-14);
  EXPECT_NEAR(limit.distribution->mean(1), 1.0 - 2.0, 1e-14);
  // Along (1,1)/sqrt 2: noise 2, rate 2, variance 2/4; along the flat one 3.
  const MatrixXd v = dense(limit.distribution->covariance);
  EXPECT_NEAR(v(0, 0), 0.5 * (0.5 + 3.0), 1e-14);
  EXPECT_NEAR(v(0, 1), 0.5 * (0.5 - 3.0), 1e-14);

  const OuDistribution noisy({a, Vector2d(2, 2), Isotropic{1.0, 2}},
                             point_distribution(Vector2d(0, 0)));
  EXPECT_NE(noisy.long_run().reason.find("noise"), std::string::npos);
  const OuDistribution drifting({a, Vector2d(2, 1), Isotropic{0.0, 2}},
                                point_distribution(Vector2d(0, 0)));
  EXPECT_NE(drifting.long_run().reason.find("drift"), std::string::npos);
  EXPECT_FALSE(drifting.excess_loss(1.0).has_value());
}

TEST(OuDistribution, RefusesWhatItCannotUse) {
  const GaussianDistribution start = point_distribution(Vector2d(0, 0));
  const Covariance noise = Isotropic{1.0, 2};
  EXPECT_THROW(OuDistribution({matrix(1, 2, 3, 4), Vector2d(0, 0), noise}, start), InvalidArgument);
  EXPECT_THROW(OuDistribution({MatrixXd::Zero(2, 3), Vector2d(0, 0), noise}, start),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, NAN), Vector2d(0, 0), noise}, start),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, 1), VectorXd::Zero(3), noise}, start),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, 1), Vector2d(0, kInf), noise}, start),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, 1), Vector2d(0, 0), Isotropic{1.0, 3}}, start),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, 1), Vector2d(0, 0), Isotropic{NAN, 2}}, start),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, 1), Vector2d(0, 0), noise},
                              point_distribution(VectorXd::Zero(3))),
               InvalidArgument);
  EXPECT_THROW(OuDistribution({matrix(1, 0, 0, 1), Vector2d(0, 0), noise},
                              point_distribution(Vector2d(0, NAN))),
               InvalidArgument);
  const OuDistribution distribution({matrix(1, 0, 0, 1), Vector2d(0, 0), noise}, start);
  EXPECT_THROW((void)distribution.at(-1.0), InvalidArgument);
  EXPECT_THROW((void)distribution.at(NAN), InvalidArgument);
  EXPECT_THROW((void)distribution.displacement(-1.0), InvalidArgument);
  EXPECT_THROW((void)distribution.error(1.0, VectorXd::Zero(3)), InvalidArgument);
  EXPECT_THROW((void)distribution.excess_loss(-1.0), InvalidArgument);
  const OuDistribution scalar({MatrixXd::Ones(1, 1), VectorXd::Zero(1), Isotropic{1.0, 1}},
                              point_distribution(VectorXd::Zero(1)));
  EXPECT_THROW((void)whiten_at(distribution, scalar, 1.0), InvalidArgument);
}

TEST(OuDistribution, MessagesNameTheEntry) {
  try {
    OuDistribution({matrix(1, 2, 3, 4), Vector2d(0, 0), Isotropic{1.0, 2}},
                   point_distribution(Vector2d(0, 0)));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("entry 1 of row 2 is 3"), std::string::npos)
        << error.what();
  }
}

// Noise along one direction reaches the other through A: what rounding calls singular has a KL of 1e20 and more.
TEST(OuDistribution, NoiseThatReachesADirectionThroughAnotherIsNotCalledSingular) {
  const MatrixXd a = matrix(2, .5, .5, 1);
  const Dense noise{matrix(1, 0, 0, 0)};
  const OuDistribution p({a, a * Vector2d(1, 1), noise}, point_distribution(Vector2d(0, 0)));
  const OuDistribution q({a, a * Vector2d(1, 2), noise}, point_distribution(Vector2d(0, 0)));
  EXPECT_FALSE(whiten_at(p, q, 1.0).mutually_singular);
  EXPECT_THROW((void)whiten_at(p, q, 1e-9), NumericalFailure);
}

TEST(OuDistribution, NoiseAlongAnEigenvectorLeavesTheOthersSingular) {
  const MatrixXd a = matrix(2, 1, 1, 2);
  const Dense noise{matrix(1, 1, 1, 1)};
  const GaussianDistribution start = point_distribution(Vector2d(0, 0));
  const OuDistribution p({a, a * Vector2d(1, 1), noise}, start);
  EXPECT_TRUE(
      whiten_at(p, OuDistribution({a, a * Vector2d(1, 2), noise}, start), 0.5).mutually_singular);
  EXPECT_FALSE(
      whiten_at(p, OuDistribution({a, a * Vector2d(2, 2), noise}, start), 0.5).mutually_singular);
  // Other noise, another subspace.
  const Dense other{matrix(1, -1, -1, 1)};
  EXPECT_TRUE(
      whiten_at(p, OuDistribution({a, a * Vector2d(1, 1), other}, start), 0.5).mutually_singular);
}

}  // namespace
}  // namespace sfumato
