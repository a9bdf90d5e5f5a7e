// Spec §3.2 (the reduction) and the singular cases of Spec §2.
#include "sfumato/math/whitened_pair.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class... Values>
VectorXd vector(Values... values) {
  VectorXd v(sizeof...(values));
  Eigen::Index i = 0;
  ((v(i++) = values), ...);
  return v;
}

MatrixXd square(double a, double b, double c, double d) {
  return (MatrixXd(2, 2) << a, b, c, d).finished();
}

MatrixXd diagonal(const VectorXd& v) { return v.asDiagonal().toDenseMatrix(); }

double kl_of(const WhitenedPair& pair) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < pair.ratio.size(); ++i) {
    const double r = pair.ratio(i);
    // psi(1/r): for wide distributions 1/r - 1 holds few digits of r.
    sum += r < 4.0 ? psi_of_excess(-pair.excess(i) / r) : 1.0 / r - 1.0 + std::log(r);
    sum += pair.shift(i) * pair.shift(i) / r;
  }
  return 0.5 * sum;
}

const VectorXd kZero = VectorXd::Zero(2);

TEST(Whiten, OneDimension) {
  const WhitenedPair pair =
      whiten(vector(1.0), Isotropic{4.0, 1}, vector(2.0), Dense{MatrixXd::Constant(1, 1, 9.0)});
  EXPECT_FALSE(pair.mutually_singular);
  EXPECT_FALSE(pair.used_rank_tolerance);
  EXPECT_DOUBLE_EQ(pair.ratio(0), 2.25);
  EXPECT_DOUBLE_EQ(pair.excess(0), 1.25);
  EXPECT_DOUBLE_EQ(std::abs(pair.shift(0)), 0.5);
}

TEST(Whiten, RefusesSizesThatDiffer) {
  const Isotropic one{1.0, 2};
  EXPECT_THROW((void)whiten(VectorXd::Zero(3), one, kZero, one), InvalidArgument);
  EXPECT_THROW((void)whiten(kZero, one, VectorXd::Zero(3), one), InvalidArgument);
  EXPECT_THROW((void)whiten(kZero, one, kZero, Isotropic{1.0, 3}), InvalidArgument);
}

TEST(Whiten, NearlyEqualCovariancesKeepTheirDigits) {
  const double tiny = 0x1p-43;  // 1.1e-13, so that 1 + tiny is exact
  const MatrixXd v = square(4.0, 1.0, 1.0, 2.0);
  const MatrixXd factor = (MatrixXd(5, 1) << 1.0, 2.0, 0.0, -1.0, 0.5).finished();
  const VectorXd two = VectorXd::Constant(5, 2.0);
  const VectorXd zero5 = VectorXd::Zero(5);
  const WhitenedPair pairs[] = {
      whiten(kZero, Isotropic{3.0, 2}, kZero, Isotropic{3.0 * (1.0 + tiny), 2}),
      whiten(kZero, Diagonal{vector(1.0, 4.0)}, kZero, Diagonal{vector(1.0, 4.0) * (1.0 + tiny)}),
      whiten(kZero, Dense{v}, kZero, Dense{v * (1.0 + tiny)}),
      whiten(kZero, Dense{1e-9 * v}, kZero, Dense{1e-9 * v * (1.0 + tiny)}),
  };
  for (const WhitenedPair& pair : pairs) {
    for (Eigen::Index i = 0; i < pair.excess.size(); ++i) {
      EXPECT_NEAR(pair.excess(i), tiny, 5e-3 * tiny);  // 3 (1 + tiny) is rounded to 53 bits
    }
  }
  EXPECT_NEAR(pairs[2].excess(0), tiny, 1e-13 * tiny);  // nothing was rounded here
  EXPECT_NEAR(pairs[2].excess(1), tiny, 1e-13 * tiny);
  // Outside the factors the diagonals alone count.
  const WhitenedPair low_rank =
      whiten(zero5, Factored{two, factor}, zero5, Factored{two * (1.0 + tiny), factor});
  EXPECT_EQ(low_rank.excess(4), tiny);
}

TEST(Whiten, GradedScalesDoNotTriggerTheRankTolerance) {
  const VectorXd scale = vector(1e-10, 1.0, 1e10);
  const MatrixXd correlation =
      (MatrixXd(3, 3) << 1.0, 0.5, 0.2, 0.5, 1.0, -0.3, 0.2, -0.3, 1.0).finished();
  const MatrixXd other = (MatrixXd(3, 3) << 2.0, 0.1, 0.2, 0.1, 1.0, 0.4, 0.2, 0.4, 3.0).finished();
  const VectorXd shift = vector(0.3, -1.0, 2.0);
  const WhitenedPair plain = whiten(VectorXd::Zero(3), Dense{correlation}, shift, Dense{other});
  const WhitenedPair graded =
      whiten(VectorXd::Zero(3), Dense{scale.asDiagonal() * correlation * scale.asDiagonal()},
             scale.cwiseProduct(shift), Dense{scale.asDiagonal() * other * scale.asDiagonal()});
  EXPECT_FALSE(graded.used_rank_tolerance);
  EXPECT_FALSE(graded.mutually_singular);
  EXPECT_NEAR(kl_of(graded), kl_of(plain), 1e-13 * kl_of(plain));
}

TEST(Whiten, ScalesThatDifferBetweenTheDistributionsDoNotEither) {
  // Each covariance is well conditioned in its own units; only their quotient is extreme.
  const double small = 1e-14;
  const MatrixXd p = square(small, 0.1 * std::sqrt(small), 0.1 * std::sqrt(small), 1.0);
  const MatrixXd q = square(1.0, 0.1, 0.1, 1.0);
  const WhitenedPair pair = whiten(kZero, Dense{p}, kZero, Dense{q});
  EXPECT_FALSE(pair.used_rank_tolerance);
  ASSERT_FALSE(pair.mutually_singular);
  // KL(P||Q) = [tr(Q^-1 P) - 2 + log det Q - log det P] / 2, both determinants are 0.99 times the
  // product of the variances.
  const double trace = (small + 1.0 - 0.02 * std::sqrt(small)) / 0.99;
  EXPECT_NEAR(kl_of(pair), 0.5 * (trace - 2.0 - std::log(small)), 1e-7);
}

TEST(Whiten, ExactlyOneSingular) {
  const Isotropic full{1.0, 2};
  const Covariance singular[] = {Diagonal{vector(1.0, 0.0)}, Dense{square(1, 1, 1, 1)},
                                 Factored{kZero, MatrixXd::Ones(2, 1)}, Isotropic{0.0, 2}};
  for (const Covariance& s : singular) {
    SCOPED_TRACE(s.index());
    for (const Covariance& f : {Covariance(full), Covariance(Dense{square(2, 1, 1, 2)})}) {
      EXPECT_TRUE(whiten(kZero, s, kZero, f).mutually_singular);
      EXPECT_TRUE(whiten(kZero, f, kZero, s).mutually_singular);
      EXPECT_EQ(whiten(kZero, f, kZero, s).ratio.size(), 0);
    }
  }
}

TEST(Whiten, BothSingularWithTheSameRange) {
  const Covariance p = Dense{square(1, 1, 1, 1)};
  const Covariance q = Dense{square(3, 3, 3, 3)};
  const WhitenedPair inside = whiten(kZero, p, vector(2.0, 2.0), q);
  ASSERT_FALSE(inside.mutually_singular);
  EXPECT_TRUE(inside.used_rank_tolerance);
  ASSERT_EQ(inside.ratio.size(), 1);
  EXPECT_NEAR(inside.ratio(0), 3.0, 1e-14);
  EXPECT_NEAR(inside.shift(0) * inside.shift(0), 4.0, 1e-13);
  EXPECT_TRUE(whiten(kZero, p, vector(2.0, 2.1), q).mutually_singular);
  EXPECT_TRUE(whiten(kZero, p, vector(2.0, -2.0), q).mutually_singular);
}

TEST(Whiten, BothSingularWithDifferentRanges) {
  EXPECT_TRUE(whiten(kZero, Dense{square(1, 1, 1, 1)}, kZero, Dense{square(1, -1, -1, 1)})
                  .mutually_singular);
  EXPECT_TRUE(whiten(kZero, Diagonal{vector(1.0, 0.0)}, kZero, Diagonal{vector(0.0, 1.0)})
                  .mutually_singular);
  EXPECT_TRUE(whiten(VectorXd::Zero(3), Dense{diagonal(vector(1.0, 1.0, 0.0))}, VectorXd::Zero(3),
                     Dense{diagonal(vector(1.0, 0.0, 0.0))})
                  .mutually_singular);
}

TEST(Whiten, DiagonalRanksAreExact) {
  const Covariance p = Diagonal{vector(1.0, 0.0)};
  const Covariance q = Diagonal{vector(2.0, 0.0)};
  const WhitenedPair pair = whiten(kZero, p, vector(1.0, 0.0), q);
  ASSERT_EQ(pair.ratio.size(), 1);
  EXPECT_FALSE(pair.used_rank_tolerance);
  EXPECT_DOUBLE_EQ(pair.ratio(0), 2.0);
  EXPECT_TRUE(whiten(kZero, p, vector(1.0, 1e-300), q).mutually_singular);
  // A tiny variance is a variance.
  EXPECT_FALSE(whiten(kZero, Diagonal{vector(1.0, 1e-200)}, kZero, Diagonal{vector(1.0, 1e-200)})
                   .mutually_singular);
}

TEST(Whiten, PointMasses) {
  for (const Covariance& point : {Covariance(Isotropic{0.0, 2}), Covariance(Diagonal{kZero}),
                                  Covariance(Dense{MatrixXd::Zero(2, 2)}),
                                  Covariance(Factored{kZero, MatrixXd::Zero(2, 1)})}) {
    SCOPED_TRACE(point.index());
    const WhitenedPair same = whiten(vector(1.0, 2.0), point, vector(1.0, 2.0), point);
    EXPECT_FALSE(same.mutually_singular);
    EXPECT_EQ(same.ratio.size(), 0);
    EXPECT_TRUE(whiten(vector(1.0, 2.0), point, vector(1.0, 3.0), point).mutually_singular);
    EXPECT_TRUE(whiten(kZero, point, kZero, Isotropic{1.0, 2}).mutually_singular);
  }
}

TEST(Whiten, NoParametersAtAll) {
  const VectorXd none(0);
  for (const Covariance& empty :
       {Covariance(Isotropic{1.0, 0}), Covariance(Dense{MatrixXd(0, 0)})}) {
    const WhitenedPair pair = whiten(none, empty, none, empty);
    EXPECT_FALSE(pair.mutually_singular);
    EXPECT_EQ(pair.ratio.size(), 0);
  }
}

TEST(Whiten, AConstantCoordinateOfADensePair) {
  const MatrixXd p = (MatrixXd(3, 3) << 2, 0, 1, 0, 0, 0, 1, 0, 2).finished();
  const VectorXd shift = vector(1.0, 0.0, 0.0);
  const WhitenedPair pair = whiten(VectorXd::Zero(3), Dense{p}, shift, Dense{2.0 * p});
  ASSERT_EQ(pair.ratio.size(), 2);
  EXPECT_NEAR(pair.ratio(0), 2.0, 1e-14);
  EXPECT_NEAR(pair.shift.square().sum(), 2.0 / 3.0, 1e-14);
  EXPECT_TRUE(
      whiten(VectorXd::Zero(3), Dense{p}, vector(0.0, 1e-9, 0.0), Dense{p}).mutually_singular);
}

TEST(ShiftedNormals, IsThePairOfGaussianDp) {
  const WhitenedPair pair = shifted_normals(1.5);
  EXPECT_EQ(pair.ratio(0), 1.0);
  EXPECT_EQ(pair.excess(0), 0.0);
  EXPECT_EQ(pair.shift(0), 1.5);
  EXPECT_THROW((void)shifted_normals(-1.0), InvalidArgument);
  EXPECT_THROW((void)shifted_normals(std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
}

TEST(Swapped, KeepsTheFlags) {
  const WhitenedPair singular = whiten(kZero, Isotropic{0.0, 2}, kZero, Dense{square(2, 1, 1, 2)});
  EXPECT_TRUE(swapped(singular).mutually_singular);
  EXPECT_EQ(swapped(singular).used_rank_tolerance, singular.used_rank_tolerance);
}

}  // namespace
}  // namespace sfumato
