#include "sfumato/sde/problem/ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/sde/ou_distribution.hpp"
#include "sfumato/sde/problem/ridge_change.hpp"
#include "sfumato/sde/problem/ridge_fit.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

constexpr int kCases = 1500;

struct Case {
  MatrixXd features;
  VectorXd target;
  RidgeOptions options;
  Index row;
  std::optional<Record> replacement;
};

/// Columns of different units, sometimes one row far out, sometimes a replacement close by.
Case random_case(RandomProblem& random, bool far_out = true) {
  const Index p = random.integer(1, 6);
  const Index n = p + random.integer(2, 30);
  Case c{random.matrix(n, p), random.vector(n), {}, random.integer(0, static_cast<int>(n) - 1), {}};
  for (Index j = 0; j < p; ++j) c.features.col(j) *= random.log_uniform(0.1, 10.0);
  if (far_out && random.integer(0, 3) == 0) c.features.row(c.row) *= random.log_uniform(10.0, 1e4);
  c.target += c.features * random.vector(p);
  c.options.loss = random.integer(0, 1) == 0 ? LossScale::sum : LossScale::mean;
  c.options.ridge = random.integer(0, 2) == 0 ? 0.0 : random.log_uniform(1e-6, 10.0);
  if (c.options.loss == LossScale::sum && random.integer(0, 1) == 0) {
    c.options.ridge_scale = RidgeScale::times_rows;
  }
  if (random.integer(0, 1) == 0) {
    const double distance = random.log_uniform(1e-6, 1.0);
    c.replacement = Record{c.features.row(c.row).transpose() + distance * random.vector(p),
                           c.target(c.row) + distance * random.normal()};
  }
  return c;
}

struct LongFit {
  LongMatrix curvature;
  LongVector pull;
  LongMatrix upper;  ///< R^T R = curvature
  LongVector minimiser;
};

/// The loss from the definition, from the rows of the table, in extended precision.
LongFit rebuild(const Case& c, bool changed) {
  const Index p = c.features.cols();
  LongMatrix rows = c.features.cast<long double>();
  LongVector targets = c.target.cast<long double>();
  const long double count = static_cast<long double>(rows.rows());
  if (changed && c.replacement) {
    rows.row(c.row) = c.replacement->features.transpose().cast<long double>();
    targets(c.row) = c.replacement->target;
  } else if (changed) {
    rows.row(c.row).setZero();
    targets(c.row) = 0;
  }
  if (c.options.loss == LossScale::mean) {
    rows /= std::sqrt(count);
    targets /= std::sqrt(count);
  }
  long double ridge = c.options.ridge;
  if (c.options.ridge_scale == RidgeScale::times_rows) ridge *= count;
  LongMatrix stacked(rows.rows() + p, p);
  stacked << rows, std::sqrt(ridge) * LongMatrix::Identity(p, p);
  LongVector stacked_targets(rows.rows() + p);
  stacked_targets << targets, LongVector::Zero(p);
  const Eigen::HouseholderQR<LongMatrix> qr(stacked);
  return {stacked.transpose() * stacked, stacked.transpose() * stacked_targets,
          qr.matrixQR().topRows(p).triangularView<Eigen::Upper>(), qr.solve(stacked_targets)};
}

TEST(RidgeProperty, NeighboursEqualALossRebuiltFromTheTable) {
  int dominating = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(seed);
    const Case c = random_case(random);
    const RidgeProblem problem(c.features, c.target, c.options);
    dominating += problem.dominates(c.row) ? 1 : 0;
    const LongFit own = rebuild(c, false);
    const LongFit other = rebuild(c, true);
    EXPECT_TRUE(problem.loss().curvature.isApprox(own.curvature.cast<double>(), 1e-14));
    EXPECT_TRUE(problem.loss().pull.isApprox(own.pull.cast<double>(), 1e-12));
    const QuadraticLoss got = problem.neighbour(c.row, c.replacement);
    EXPECT_EQ(got.curvature, got.curvature.transpose());
    EXPECT_TRUE(got.curvature.isApprox(other.curvature.cast<double>(), 1e-12));
    EXPECT_TRUE(got.pull.isApprox(other.pull.cast<double>(), 1e-11));
  }
  EXPECT_GT(dominating, kCases / 20);
}

TEST(RidgeProperty, LeveragesSumToAtMostTheParameters) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(1'000'000 + seed);
    Case c = random_case(random);
    if (seed % 4 == 0 && c.features.cols() > 1) c.features.col(0) = c.features.col(1);
    const RidgeProblem problem(c.features, c.target, c.options);
    double sum = 0.0;
    for (Index i = 0; i < problem.rows(); ++i) sum += problem.leverage(i);
    EXPECT_LE(sum, static_cast<double>(problem.parameters()) * (1.0 + 1e-9));
  }
}

TEST(RidgeProperty, MinimiserShiftEqualsTheDifferenceOfTwoFits) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(2'000'000 + seed);
    const Case c = random_case(random);
    const RidgeProblem problem(c.features, c.target, c.options);
    const LongFit own = rebuild(c, false);
    const LongFit other = rebuild(c, true);
    const LongVector& m = own.minimiser;
    const LongVector expected = other.minimiser - m;
    const auto got = minimiser_shift(problem, c.row, c.replacement);
    ASSERT_TRUE(got.has_value());
    // Rounding times the condition number of the table (not of A, which is its square).
    const double rounding = 1e-13 * (1.0 + static_cast<double>(m.norm())) /
                            std::sqrt(problem.reference()->reciprocal_condition);
    EXPECT_LE((*got - expected.cast<double>()).norm(),
              1e-11 * static_cast<double>(expected.norm()) + rounding);
    EXPECT_LE((problem.minimiser() - m.cast<double>()).norm(), rounding);
  }
}

struct Divergences {
  double forward;
  double reverse;
};

/// KL both ways of a whitened pair (Spec §2), enough to compare two pairs in any coordinates.
Divergences divergences(const WhitenedPair& pair) {
  const auto kl = [](const WhitenedPair& w) {
    double sum = 0.0;
    for (Index i = 0; i < w.ratio.size(); ++i) {
      const double inverse_excess = -w.excess(i) / w.ratio(i);
      sum += 0.5 *
             (inverse_excess - std::log1p(inverse_excess) + w.shift(i) * w.shift(i) / w.ratio(i));
    }
    return sum;
  };
  return {kl(pair), kl(swapped(pair))};
}

TEST(RidgeProperty, StationaryPairsAgreeWithTheGeneralDistribution) {
  int compared = 0;
  for (std::uint64_t seed = 0; compared < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(3'000'000 + seed);
    const Case c = random_case(random, false);
    const RidgeProblem problem(c.features, c.target, c.options);
    // The general distribution works with eigenvalues of A and A', to rounding times their condition number.
    if (condition_number(problem.loss()) > 1e3 ||
        condition_number(problem.neighbour(c.row, c.replacement)) > 1e3) {
      continue;
    }
    ++compared;
    const double variance = random.log_uniform(0.01, 100.0);
    const Index p = problem.parameters();
    const auto fast = ridge_pair_stationary(problem, c.row, c.replacement, variance);
    ASSERT_TRUE(fast.has_value());
    EXPECT_LE(fast->ratio.size(), c.replacement ? 2 : 1);

    const auto distribution = [&](const QuadraticLoss& loss) {
      return OuDistribution({loss.curvature, loss.pull, Isotropic{variance, p}},
                            point_distribution(VectorXd::Zero(p)));
    };
    const WhitenedPair general = whiten_at(
        distribution(problem.loss()), distribution(problem.neighbour(c.row, c.replacement)), kInf);
    ASSERT_FALSE(general.mutually_singular);
    const Divergences got = divergences(*fast);
    const Divergences expected = divergences(general);
    EXPECT_NEAR(got.forward, expected.forward, 1e-10 * expected.forward + 1e-13);
    EXPECT_NEAR(got.reverse, expected.reverse, 1e-10 * expected.reverse + 1e-13);

    // The ratios themselves: all others of the general pair are one.
    ArrayXd padded = ArrayXd::Zero(p);
    padded.head(fast->excess.size()) = fast->excess;
    std::sort(padded.begin(), padded.end());
    ArrayXd sorted = general.excess;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_TRUE(((padded - sorted).abs() <= 1e-10 * (1.0 + sorted.abs())).all())
        << padded.transpose() << "\n"
        << sorted.transpose();
  }
}

/// Everything in long double from the table: what the fast path must give, however large the
/// leverage of the row.
TEST(RidgeProperty, StationaryPairsAgreeWithExtendedPrecision) {
  int compared = 0;
  for (std::uint64_t seed = 0; compared < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(4'000'000 + seed);
    const Case c = random_case(random);
    const RidgeProblem problem(c.features, c.target, c.options);
    ++compared;
    const double variance = random.log_uniform(0.01, 100.0);
    const auto fast = ridge_pair_stationary(problem, c.row, c.replacement, variance);
    ASSERT_TRUE(fast.has_value());

    const LongFit own = rebuild(c, false);
    const LongFit other = rebuild(c, true);
    const LongVector gap = other.minimiser - own.minimiser;
    const long double own_quadratic = (own.upper * gap).squaredNorm() * 2.0L / variance;
    const long double other_quadratic = (other.upper * gap).squaredNorm() * 2.0L / variance;
    // R' R^{-1}, whose squared singular values are the precisions of Q in units of P.
    const LongMatrix ratio =
        own.upper.transpose().triangularView<Eigen::Lower>().solve(other.upper.transpose());
    const long double trace_excess =
        ratio.squaredNorm() - static_cast<long double>(problem.parameters());
    const long double log_det = 2.0L * (other.upper.diagonal().cwiseAbs().array().log() -
                                        own.upper.diagonal().cwiseAbs().array().log())
                                           .sum();

    const auto near = [](double got, long double expected, double floor) {
      EXPECT_NEAR(got, static_cast<double>(expected),
                  1e-10 * std::abs(static_cast<double>(expected)) + floor);
    };
    const double size = static_cast<double>(ratio.squaredNorm());
    near((fast->shift.square()).sum(), own_quadratic, 1e-11);
    near((fast->shift.square() / fast->ratio).sum(), other_quadratic, 1e-11);
    near((-fast->excess / fast->ratio).sum(), trace_excess, 1e-12 * size);
    near(-fast->ratio.log().sum(), log_det, 1e-11);
  }
}

}  // namespace
}  // namespace sfumato
