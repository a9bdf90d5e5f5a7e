#include "sfumato/math/whitened_pair.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "sfumato/math/special.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kCases = 1000;
constexpr std::uint64_t kSeed = 3003;

struct Distributions {
  VectorXd mean_p;
  MatrixXd cov_p;
  VectorXd mean_q;
  MatrixXd cov_q;
};

Distributions random_distributions(testing::RandomPairs& random, Index d) {
  return {random.vector(d), random.spd(d), random.vector(d), random.spd(d)};
}

WhitenedPair whiten(const Distributions& distributions) {
  return sfumato::whiten(distributions.mean_p, Dense{distributions.cov_p}, distributions.mean_q,
                         Dense{distributions.cov_q});
}

/// KL(P||Q) of the whitened pair.
double kl_of(const WhitenedPair& pair) {
  double sum = 0.0;
  for (Index i = 0; i < pair.ratio.size(); ++i) {
    const double r = pair.ratio(i);
    // psi(1/r): for wide distributions 1/r - 1 holds few digits of r.
    sum += r < 4.0 ? psi_of_excess(-pair.excess(i) / r) : 1.0 / r - 1.0 + std::log(r);
    sum += pair.shift(i) * pair.shift(i) / r;
  }
  return 0.5 * sum;
}

double log_determinant(const MatrixXd& m) {
  return 2.0 * MatrixXd(m.llt().matrixL()).diagonal().array().log().sum();
}

/// The first formula of Spec §2.
double textbook_kl(const Distributions& distributions) {
  const VectorXd d = distributions.mean_q - distributions.mean_p;
  const auto q = distributions.cov_q.llt();
  return 0.5 *
         (log_determinant(distributions.cov_q) - log_determinant(distributions.cov_p) -
          static_cast<double>(d.size()) + q.solve(distributions.cov_p).trace() + d.dot(q.solve(d)));
}

TEST(WhitenedPairs, GiveTheTextbookKlBothWays) {
  testing::RandomPairs random(kSeed);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " case " << i);
    const Distributions distributions = random_distributions(random, random.integer(1, 8));
    const WhitenedPair pair = whiten(distributions);
    const double forward = textbook_kl(distributions);
    const double reverse = textbook_kl(
        {distributions.mean_q, distributions.cov_q, distributions.mean_p, distributions.cov_p});
    EXPECT_NEAR(kl_of(pair), forward, 1e-10 * forward);
    EXPECT_NEAR(kl_of(swapped(pair)), reverse, 1e-10 * reverse);
    EXPECT_LT((pair.ratio - 1.0 - pair.excess).abs().maxCoeff(),
              1e-15 * (1.0 + pair.ratio.maxCoeff()));
    EXPECT_FALSE(pair.used_rank_tolerance);
  }
}

TEST(WhitenedPairs, DoNotDependOnTheCoordinates) {
  testing::RandomPairs random(kSeed + 1);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 1 << " case " << i);
    const Index d = random.integer(1, 6);
    const Distributions distributions = random_distributions(random, d);
    const MatrixXd rotation = Eigen::HouseholderQR<MatrixXd>(random.matrix(d, d)).householderQ();
    VectorXd scale(d);
    for (double& s : scale) s = random.log_uniform(1e-6, 1e6);
    const MatrixXd t = scale.asDiagonal() * rotation;
    const VectorXd v = random.vector(d);
    const auto image = [&t](const MatrixXd& m) -> MatrixXd {
      const MatrixXd product = t * m * t.transpose();
      return 0.5 * (product + product.transpose());
    };
    const WhitenedPair pair = whiten(distributions);
    const WhitenedPair moved = whiten({t * distributions.mean_p + v, image(distributions.cov_p),
                                       t * distributions.mean_q + v, image(distributions.cov_q)});
    ASSERT_FALSE(moved.mutually_singular);
    EXPECT_FALSE(moved.used_rank_tolerance);
    const double kl = kl_of(pair);
    // Adding v rounds the small coordinates of the means.
    const double mean_noise = 1e-15 * v.cwiseAbs().maxCoeff() / scale.minCoeff();
    const double tolerance = (1e-9 + 1e3 * mean_noise) * (1.0 + kl);
    EXPECT_NEAR(kl_of(moved), kl, tolerance);
    Eigen::ArrayXd a = pair.ratio;
    Eigen::ArrayXd b = moved.ratio;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_LT(((a - b) / a).abs().maxCoeff(), 1e-8);
  }
}

TEST(WhitenedPairs, AgreeBetweenTheDiagonalAndTheDensePath) {
  testing::RandomPairs random(kSeed + 2);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 2 << " case " << i);
    const Index d = random.integer(1, 8);
    VectorXd p(d);
    VectorXd q(d);
    for (Index j = 0; j < d; ++j) {
      p(j) = random.log_uniform(1e-8, 1e8);
      q(j) = p(j) * random.log_uniform(1e-3, 1e3);
    }
    const VectorXd mean_q = random.vector(d).cwiseProduct(p.cwiseSqrt());
    const VectorXd zero = VectorXd::Zero(d);
    const double diagonal = kl_of(sfumato::whiten(zero, Diagonal{p}, mean_q, Diagonal{q}));
    const WhitenedPair full =
        sfumato::whiten(zero, Dense{p.asDiagonal().toDenseMatrix()}, mean_q, Diagonal{q});
    EXPECT_FALSE(full.used_rank_tolerance);
    EXPECT_NEAR(kl_of(full), diagonal, 1e-12 * diagonal);
  }
}

TEST(WhitenedPairs, AgreeBetweenTheLowRankAndTheDensePath) {
  testing::RandomPairs random(kSeed + 3);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 3 << " case " << i);
    const Index d = random.integer(5, 15);
    const Index k = random.integer(0, 2);
    const Index l = random.integer(0, (static_cast<int>(d) - 1) / 2 - static_cast<int>(k));
    VectorXd diagonal(d);
    for (double& v : diagonal) v = random.log_uniform(1e-3, 1e3);
    const MatrixXd root = diagonal.cwiseSqrt().asDiagonal().toDenseMatrix();
    const Factored p{diagonal, root * random.matrix(d, k)};
    Factored q{diagonal, root * random.matrix(d, l)};
    // Powers of two keep the diagonals exactly proportional, which selects the low-rank path.
    const double level = std::ldexp(1.0, random.integer(-3, 3));
    q.diagonal *= level;
    const VectorXd mean_p = random.vector(d);
    const VectorXd mean_q = random.vector(d);
    const WhitenedPair thin = sfumato::whiten(mean_p, p, mean_q, q);
    const Distributions distributions{mean_p, dense(p), mean_q, dense(q)};
    const WhitenedPair full = whiten(distributions);
    EXPECT_EQ(thin.ratio.size(), d);
    EXPECT_NEAR(kl_of(thin), kl_of(full), 1e-10 * kl_of(full));
    EXPECT_NEAR(kl_of(swapped(thin)), kl_of(swapped(full)), 1e-10 * kl_of(swapped(full)));
    EXPECT_NEAR(kl_of(thin), textbook_kl(distributions), 1e-9 * kl_of(full));
  }
}

/// Of a covariance scaled to unit variances.
double condition(const MatrixXd& m) {
  const VectorXd inverse = m.diagonal().cwiseSqrt().cwiseInverse();
  const VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<MatrixXd>(inverse.asDiagonal() * m * inverse.asDiagonal())
          .eigenvalues();
  return eigenvalues(eigenvalues.size() - 1) / eigenvalues(0);
}

TEST(WhitenedPairs, KeepDigitsWhenTheRatiosSpreadWidely) {
  // Both distributions are images of independent coordinates under a triangular map with unit diagonal, so
  // that the KL is a sum of one-dimensional ones, whatever the variances.
  testing::RandomPairs random(kSeed + 7);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 7 << " case " << i);
    const Index d = random.integer(2, 6);
    VectorXd p(d);
    VectorXd q(d);
    for (Index j = 0; j < d; ++j) {
      p(j) = random.log_uniform(1e-5, 1e5);
      q(j) = random.log_uniform(1e-5, 1e5);
    }
    const VectorXd zero = VectorXd::Zero(d);
    const WhitenedPair expected = sfumato::whiten(zero, Diagonal{p}, zero, Diagonal{q});
    const MatrixXd t = random.matrix(d, d).triangularView<Eigen::UnitLower>();
    const VectorXd scale = (p + q).cwiseSqrt();
    const MatrixXd map = scale.asDiagonal() * t * scale.cwiseInverse().asDiagonal();
    const auto image = [&map](const VectorXd& v) -> MatrixXd {
      const MatrixXd product = map * v.asDiagonal() * map.transpose();
      return 0.5 * (product + product.transpose());
    };
    const WhitenedPair pair = sfumato::whiten(zero, Dense{image(p)}, zero, Dense{image(q)});
    if (pair.used_rank_tolerance) continue;  // a map that is singular to 1e-12
    // Entries are rounded, which moves each ratio by rounding times the condition in own units.
    const double slack = 1e-11 * (condition(image(p)) + condition(image(q)));
    EXPECT_NEAR(kl_of(pair), kl_of(expected), slack * kl_of(expected));
    EXPECT_NEAR(kl_of(swapped(pair)), kl_of(swapped(expected)), slack * kl_of(swapped(expected)));
  }
}

TEST(WhitenedPairs, KeepDigitsWhenAlmostEqual) {
  testing::RandomPairs random(kSeed + 4);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 4 << " case " << i);
    // q = (1 + change) p exactly: integers times powers of two.
    const Index d = random.integer(1, 6);
    const MatrixXd integers = (8.0 * random.matrix(d, d)).array().round().matrix();
    MatrixXd p = integers * integers.transpose();
    p.diagonal().array() += 16.0;
    const double change =
        std::ldexp(random.integer(0, 1) == 0 ? 1.0 : -1.0, -random.integer(5, 40));
    const VectorXd zero = VectorXd::Zero(d);
    const WhitenedPair pair = sfumato::whiten(zero, Dense{p}, zero, Dense{p * (1.0 + change)});
    const double expected = 0.5 * static_cast<double>(d) * psi_of_excess(-change / (1.0 + change));
    EXPECT_NEAR(kl_of(pair), expected, 1e-11 * expected);
  }
}

TEST(WhitenedPairs, SwappingTwiceIsTheIdentity) {
  testing::RandomPairs random(kSeed + 5);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 5 << " case " << i);
    const WhitenedPair pair = random.pair(random.integer(1, 6));
    const WhitenedPair twice = swapped(swapped(pair));
    EXPECT_LT(((twice.ratio - pair.ratio) / pair.ratio).abs().maxCoeff(), 1e-15);
    EXPECT_LT((twice.excess - pair.excess).abs().maxCoeff(), 4e-16 * pair.excess.abs().maxCoeff());
    EXPECT_LT((twice.shift - pair.shift).abs().maxCoeff(), 1e-15 * pair.shift.abs().maxCoeff());
  }
}

TEST(WhitenedPairs, ReduceToTheCommonRange) {
  testing::RandomPairs random(kSeed + 6);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed + 6 << " case " << i);
    const Index rank = random.integer(1, 4);
    const Index d = rank + random.integer(1, 3);
    const Distributions inner = random_distributions(random, rank);
    const MatrixXd basis = random.matrix(d, rank);
    const auto image = [&basis](const MatrixXd& m) -> MatrixXd {
      const MatrixXd product = basis * m * basis.transpose();
      return 0.5 * (product + product.transpose());
    };
    const Distributions distributions{basis * inner.mean_p, image(inner.cov_p),
                                      basis * inner.mean_q, image(inner.cov_q)};
    const WhitenedPair pair = whiten(distributions);
    ASSERT_FALSE(pair.mutually_singular);
    EXPECT_TRUE(pair.used_rank_tolerance);
    ASSERT_EQ(pair.ratio.size(), rank);
    const double expected = textbook_kl(inner);
    EXPECT_NEAR(kl_of(pair), expected, 1e-6 * expected);
    Distributions outside = distributions;
    outside.mean_q += 0.01 * random.vector(d);
    EXPECT_TRUE(whiten(outside).mutually_singular);
  }
}

}  // namespace
}  // namespace sfumato
