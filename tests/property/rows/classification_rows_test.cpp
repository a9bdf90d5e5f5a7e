#include "sfumato/rows/classification_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/fokker_planck_pair.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

constexpr double kEpsilon = 0.3;

/// What two distributions on the same cells say, without any code of the bounds.
struct Truth {
  double kl[2];
  double advantage;
  double delta[2];  ///< at kEpsilon
};

Truth compare(const ArrayXd& p, const ArrayXd& q) {
  const auto kl = [](const ArrayXd& a, const ArrayXd& b) {
    double sum = 0.0;
    for (Index i = 0; i < a.size(); ++i) {
      if (a(i) > 1e-290 && b(i) > 1e-290) sum += a(i) * std::log(a(i) / b(i)) - a(i) + b(i);
    }
    return sum;
  };
  const auto delta = [](const ArrayXd& a, const ArrayXd& b) {
    return (a - std::exp(kEpsilon) * b).max(0.0).sum();
  };
  return {{kl(p, q), kl(q, p)}, (p - q).max(0.0).sum(), {delta(p, q), delta(q, p)}};
}

void expect_covers(const RowRisk& risk, const Truth& truth, double slack) {
  ASSERT_EQ(risk.status, RowStatus::ok) << risk.message;
  EXPECT_GE(risk.forward.kl.value, truth.kl[0] * (1.0 - slack) - 1e-12);
  EXPECT_GE(risk.reverse.kl.value, truth.kl[1] * (1.0 - slack) - 1e-12);
  EXPECT_GE(risk.advantage.value, truth.advantage * (1.0 - slack) - 1e-9);
  EXPECT_GE(risk.forward.delta[0].value, truth.delta[0] * (1.0 - slack) - 1e-9);
  EXPECT_GE(risk.reverse.delta[0].value, truth.delta[1] * (1.0 - slack) - 1e-9);
}

struct Case {
  ClassificationProblem problem;
  std::optional<Record> replacement;
  double variance;
};

/// A few rows, so that each matters; sum, mean and a ridge that grows; removed or replaced.
Case random_case(RandomProblem& random, Index features) {
  const Index rows = random.integer(2, 8);
  MatrixXd x = random.log_uniform(0.3, 2.0) * random.matrix(rows, features);
  VectorXd y(rows);
  for (double& label : y) label = random.integer(0, 1);
  RidgeOptions options{random.integer(0, 1) == 0 ? LossScale::sum : LossScale::mean,
                       random.log_uniform(0.2, 2.0)};
  if (options.loss == LossScale::sum && random.integer(0, 2) == 0) {
    options.ridge_scale = RidgeScale::times_rows;
    options.ridge /= static_cast<double>(rows);
  }
  Case result{ClassificationProblem::logistic(std::move(x), std::move(y), options),
              {},
              random.log_uniform(0.05, 5.0)};
  if (random.integer(0, 1) == 0) {
    result.replacement = Record{random.vector(features), double(random.integer(0, 1))};
  }
  return result;
}

RowRiskOptions options_of(const Case& c, Release release) {
  return {std::move(release), c.replacement, {Epsilon{kEpsilon}}, Delta{1e-4}, 1};
}

/// exp(-2 f / sigma^2) on a grid of `cells` per axis around the minimiser (Spec §7.1).
ArrayXd gibbs(const ClassificationProblem& problem, double variance, const VectorXd& centre,
              double radius, Index cells) {
  const Index d = problem.parameters();
  const Index count = d == 1 ? cells : cells * cells;
  ArrayXd density(count);
  VectorXd at(d);
  for (Index i = 0; i < count; ++i) {
    const auto place = [&](Index k) {
      return radius * (2.0 * (static_cast<double>(k) + 0.5) / static_cast<double>(cells) - 1.0);
    };
    at(0) = centre(0) + place(i % cells);
    if (d == 2) at(1) = centre(1) + place(i / cells);
    density(i) = -2.0 / variance * problem.loss(at);
  }
  density = (density - density.maxCoeff()).exp();
  return density / density.sum();
}

void check_stationary(Index features, std::uint64_t tables, Index cells) {
  double closest = kInf;
  for (std::uint64_t seed = 0; seed < tables; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(seed);
    const Case c = random_case(random, features);
    const ClassificationFit fit(c.problem);
    Observer observer;
    const auto rows =
        row_bounds(fit,
                   options_of(c, FlowRelease{kInf, Isotropic{c.variance, features},
                                             point_distribution(VectorXd::Zero(features))}),
                   observer)
            .rows;
    const Index row = random.integer(0, static_cast<int>(c.problem.rows()) - 1);
    const ClassificationProblem other = c.problem.neighbour(row, c.replacement);
    const double kappa = std::min(fit.convexity().kappa, other.weights().ridge);
    const VectorXd centre = fit.convexity().minimiser;
    const double shift = (convexity(other).minimiser - centre).norm();
    const double radius = shift + 9.0 * std::sqrt(c.variance / (2.0 * kappa));
    const Truth truth = compare(gibbs(c.problem, c.variance, centre, radius, cells),
                                gibbs(other, c.variance, centre, radius, cells));
    const RowRisk& risk = rows[static_cast<std::size_t>(row)];
    expect_covers(risk, truth, 1e-6);
    if (truth.kl[0] > 1e-6) closest = std::min(closest, risk.forward.kl.value / truth.kl[0]);
  }
  EXPECT_LT(closest, 3.0);  // not vacuous
}

TEST(ClassificationRowsProperty, CoverTheInvariantDistributionsOnALine) {
  check_stationary(1, 1000, 1500);
}
TEST(ClassificationRowsProperty, CoverTheInvariantDistributionsInThePlane) {
  check_stationary(2, 40, 160);
}

TEST(ClassificationRowsProperty, CoverTheFokkerPlanckSolution) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(5000 + seed);
    const Case c = random_case(random, 1);
    const double time = random.log_uniform(0.1, 3.0);
    const GaussianDistribution start{random.vector(1), Isotropic{random.log_uniform(0.1, 1.0), 1}};
    const Isotropic noise{c.variance, 1};
    const ClassificationFit fit(c.problem);
    Observer observer;
    const auto rows =
        row_bounds(fit, options_of(c, FlowRelease{time, noise, start}), observer).rows;
    const Index row = random.integer(0, static_cast<int>(c.problem.rows()) - 1);
    const auto diffusion = [&](ClassificationProblem problem) {
      return classification_diffusion(
          std::make_shared<const ClassificationProblem>(std::move(problem)), noise);
    };
    FokkerPlanckOptions options;
    options.epsilons = {kEpsilon};
    options.cells_per_axis = 600;
    const PairSolution solution = solve_fokker_planck_pair(
        {diffusion(c.problem), start}, {diffusion(c.problem.neighbour(row, c.replacement)), start},
        {time}, options);
    const PairAtTime& at = solution.rows.at(0);
    expect_covers(rows[static_cast<std::size_t>(row)],
                  {{at.forward.kl.value, at.reverse.kl.value},
                   at.total_variation.value,
                   {at.forward.deltas[0].value, at.reverse.deltas[0].value}},
                  1e-3);
  }
}

/// The distribution of the chain on a grid: one matrix of transition probabilities between cells, the start a
/// point. Cells are a small fraction of a step's noise.
ArrayXd chain_distribution(const ClassificationProblem& problem, double eta, int steps,
                           double deviation, const ArrayXd& points) {
  const double width = points(1) - points(0);
  const auto row = [&](double from) {
    const VectorXd x = VectorXd::Constant(1, from);
    const double to = from - eta * problem.gradient(x)(0);
    return ArrayXd((-0.5 * ((points - to) / deviation).square()).exp() * width /
                   (deviation * std::sqrt(2.0 * std::numbers::pi)));
  };
  ArrayXd distribution = row(0.0);
  MatrixXd transition(points.size(), points.size());
  if (steps > 1) {
    for (Index i = 0; i < points.size(); ++i) transition.col(i) = row(points(i)).matrix();
  }
  for (int k = 1; k < steps; ++k) distribution = (transition * distribution.matrix()).array();
  return distribution;
}

TEST(ClassificationRowsProperty, CoverTheDistributionOfTheChain) {
  double closest = kInf;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(9000 + seed);
    const Case c = random_case(random, 1);
    const ClassificationFit fit(c.problem);
    // From short steps to some that do not contract.
    const double eta = random.log_uniform(0.1, 2.2) / fit.convexity().lipschitz;
    const int steps = random.integer(1, 12);
    Observer observer;
    const auto rows =
        row_bounds(fit,
                   options_of(c, ChainRelease{eta, double(steps), Isotropic{c.variance, 1},
                                              point_distribution(VectorXd::Zero(1))}),
                   observer)
            .rows;
    const Index row = random.integer(0, static_cast<int>(c.problem.rows()) - 1);
    const ClassificationProblem other = c.problem.neighbour(row, c.replacement);
    const double deviation = std::sqrt(eta * c.variance);
    // The map is at most 1.2-Lipschitz, a step of the mean at most eta |gradient at 0|.
    double reach = 0.0;
    double spread = 0.0;
    const double push = eta * std::max(c.problem.gradient(VectorXd::Zero(1)).norm(),
                                       other.gradient(VectorXd::Zero(1)).norm());
    for (int k = 0; k < steps; ++k) {
      reach = 1.2 * reach + push;
      spread = std::sqrt(1.44 * spread * spread + deviation * deviation);
    }
    const double radius = std::min(reach, 10.0) + 8.0 * spread;
    const auto cells = static_cast<Index>(std::min(700.0, 5.0 * radius / deviation + 50.0));
    const ArrayXd points = ArrayXd::LinSpaced(cells, -radius, radius);
    const ArrayXd p = chain_distribution(c.problem, eta, steps, deviation, points);
    const ArrayXd q = chain_distribution(other, eta, steps, deviation, points);
    ASSERT_NEAR(p.sum(), 1.0, 1e-6);
    ASSERT_NEAR(q.sum(), 1.0, 1e-6);
    const Truth truth = compare(p / p.sum(), q / q.sum());
    const RowRisk& risk = rows[static_cast<std::size_t>(row)];
    expect_covers(risk, truth, 1e-4);
    if (truth.kl[0] > 1e-6) closest = std::min(closest, risk.forward.kl.value / truth.kl[0]);
  }
  EXPECT_LT(closest, 2.0);
}

TEST(ClassificationRowsProperty, ThreadsDoNotChangeABit) {
  RandomProblem random(77);
  const MatrixXd x = random.matrix(300, 3);
  VectorXd y(300);
  for (double& label : y) label = random.integer(0, 1);
  const ClassificationFit fit(ClassificationProblem::logistic(x, y, {LossScale::sum, 1.0}));
  const auto start = point_distribution(VectorXd::Zero(3));
  for (const Release& release : {Release{FlowRelease{1.0, Isotropic{1.0, 3}, start}},
                                 Release{ChainRelease{0.01, 50.0, Isotropic{1.0, 3}, start}},
                                 Release{MinimiserRelease{Isotropic{1.0, 3}}}}) {
    RowRiskOptions options{release, {}, {Epsilon{kEpsilon}}, Delta{1e-4}, 1};
    Observer observer;
    const auto one = row_bounds(fit, options, observer).rows;
    options.threads = 3;
    const auto many = row_bounds(fit, options, observer).rows;
    ASSERT_EQ(one.size(), many.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (const auto& view : {+[](const RowRisk& r) { return r.mu.value; },
                               +[](const RowRisk& r) { return r.advantage.value; },
                               +[](const RowRisk& r) { return r.forward.kl.value; },
                               +[](const RowRisk& r) { return r.reverse.delta[0].value; },
                               +[](const RowRisk& r) { return r.reverse.epsilon.value; }}) {
        ASSERT_EQ(view(one[i]), view(many[i])) << i;
      }
    }
  }
}

}  // namespace
}  // namespace sfumato
