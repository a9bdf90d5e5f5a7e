#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/stationary_pair.hpp"
#include "sfumato/rows/classification_rows.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

const std::vector<double> kEpsilons = {0.1, 1.0, 4.0};
constexpr double kDelta = 1e-5;

/// A table, what replaces a row, the noise.
struct Case {
  ClassificationProblem problem;
  std::optional<Record> replacement;
  double variance;
};

/// Of the distributions exp(-2 f/variance) by quadrature, without any code of the bounds.
struct Truth {
  double kl[2];
  double advantage;
  std::vector<double> delta[2];
  double epsilon[2];  ///< at kDelta
};

/// Points along one axis that are dense near 0 and reach far: scale * sinh(u) with its derivative.
struct Axis {
  ArrayXd at;
  ArrayXd weight;
};
Axis axis(double scale, double low, double high, Index count) {
  const ArrayXd u = ArrayXd::LinSpaced(count, -std::asinh(-low / scale), std::asinh(high / scale));
  return {scale * u.sinh(), scale * u.cosh() * (u(1) - u(0))};
}

/// How far from `centre` along `direction` both losses have risen by `rise` above their minima.
double reach(const ClassificationProblem& f, const ClassificationProblem& g, const VectorXd& centre,
             const VectorXd& direction, double start, double rise, double f_least, double g_least) {
  double r = start;
  while (f.loss(centre + r * direction) - f_least < rise ||
         g.loss(centre + r * direction) - g_least < rise) {
    r *= 1.5;
  }
  return r;
}

Truth truth_of(const Case& c, Index row, const VectorXd& centre, Index count) {
  const ClassificationProblem other = c.problem.neighbour(row, c.replacement);
  const VectorXd moved = convexity(other, centre).minimiser;
  const double f_least = c.problem.loss(centre);
  const double g_least = other.loss(moved);
  const Index d = c.problem.parameters();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(c.problem.hessian(centre));
  std::vector<Axis> axes;
  for (Index i = 0; i < d; ++i) {
    const VectorXd v = eigen.eigenvectors().col(i);
    const double scale = std::sqrt(0.5 * c.variance / eigen.eigenvalues()(i));
    const double rise = 40.0 * c.variance;  // beta times it is 80
    const double up = reach(c.problem, other, centre, v, scale, rise, f_least, g_least);
    const double down = reach(c.problem, other, centre, -v, scale, rise, f_least, g_least);
    axes.push_back(axis(scale, -down, up, count));
  }
  const Index total = d == 1 ? count : count * count;
  ArrayXd p(total);
  ArrayXd q(total);
  ArrayXd weight(total);
  for (Index i = 0; i < total; ++i) {
    VectorXd at = centre + axes[0].at(i % count) * eigen.eigenvectors().col(0);
    weight(i) = axes[0].weight(i % count);
    if (d == 2) {
      at += axes[1].at(i / count) * eigen.eigenvectors().col(1);
      weight(i) *= axes[1].weight(i / count);
    }
    p(i) = -2.0 / c.variance * (c.problem.loss(at) - f_least);
    q(i) = -2.0 / c.variance * (other.loss(at) - g_least);
  }
  p -= std::log((p.exp() * weight).sum());
  q -= std::log((q.exp() * weight).sum());
  Truth truth{};
  const ArrayXd pm = p.exp() * weight;
  const ArrayXd qm = q.exp() * weight;
  // x - 1 - log x in the mean of the other distribution: no cancellation beyond that of the logarithms.
  truth.kl[0] = (pm * (p - q) - pm + qm).sum();
  truth.kl[1] = (qm * (q - p) - qm + pm).sum();
  truth.advantage = (pm - qm).max(0.0).sum();
  const auto delta = [&](bool reverse, double eps) {
    const ArrayXd& a = reverse ? qm : pm;
    const ArrayXd& b = reverse ? pm : qm;
    return (a - std::exp(eps) * b).max(0.0).sum();
  };
  for (const bool reverse : {false, true}) {
    for (const double eps : kEpsilons) truth.delta[reverse].push_back(delta(reverse, eps));
    double low = 0.0;
    double high = 600.0;
    if (delta(reverse, 0.0) <= kDelta) high = 0.0;
    for (int step = 0; step < 40 && high > 0.0; ++step) {
      const double middle = 0.5 * (low + high);
      (delta(reverse, middle) > kDelta ? low : high) = middle;
    }
    truth.epsilon[reverse] = low;
  }
  return truth;
}

/// Bound over truth, for the views that are far from 0.
struct Ratios {
  std::vector<double> kl, advantage, delta, epsilon;
};
double median(std::vector<double> values) {
  if (values.empty()) return kInf;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// The views of one neighbour.
struct Views {
  double kl[2];
  double advantage;
  std::vector<double> delta[2];
  double epsilon[2];
};
Views views_of(const Risk& risk) {
  Views views{};
  views.advantage = risk.advantage().value;
  for (const bool reverse : {false, true}) {
    const Direction direction = reverse ? Direction::reverse : Direction::forward;
    views.kl[reverse] = risk.kl(direction).value.value();
    for (const double eps : kEpsilons) {
      views.delta[reverse].push_back(risk.delta(direction, Epsilon{eps}).value.probability());
    }
    views.epsilon[reverse] = risk.epsilon(direction, Delta{kDelta}).value.nats();
  }
  return views;
}

void expect_covers(const Views& views, const Truth& truth) {
  const double slack = 1e-5;  // of the quadrature
  const double cells = 1e-9;
  EXPECT_GE(views.advantage, truth.advantage * (1.0 - slack) - cells);
  for (const bool reverse : {false, true}) {
    EXPECT_GE(views.kl[reverse], truth.kl[reverse] * (1.0 - slack) - cells);
    EXPECT_GE(views.epsilon[reverse], truth.epsilon[reverse] * (1.0 - slack) - 1e-6);
    for (std::size_t i = 0; i < kEpsilons.size(); ++i) {
      EXPECT_GE(views.delta[reverse][i], truth.delta[reverse][i] * (1.0 - slack) - cells);
    }
  }
}

void add_ratios(const Views& views, const Truth& truth, Ratios& ratios) {
  if (truth.kl[0] > 1e-7) ratios.kl.push_back(views.kl[0] / truth.kl[0]);
  if (truth.advantage > 1e-4) ratios.advantage.push_back(views.advantage / truth.advantage);
  if (truth.delta[0][1] > 1e-7) ratios.delta.push_back(views.delta[0][1] / truth.delta[0][1]);
  if (truth.epsilon[0] > 1e-3) ratios.epsilon.push_back(views.epsilon[0] / truth.epsilon[0]);
}

/// Checks one random row of each case; the medians with the curvature near the minimiser, and without
/// it (a flow that has run for a long but finite time).
template <class Draw>
void check(const char* what, std::uint64_t cases, Index count, double most, Draw&& draw) {
  Ratios local;
  Ratios before;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(::testing::Message() << what << ", seed " << seed);
    RandomProblem random(seed);
    const Case c = draw(random);
    const Index d = c.problem.parameters();
    const ClassificationFit fit(c.problem);
    const Index row = random.integer(0, static_cast<int>(c.problem.rows()) - 1);
    const Truth truth = truth_of(c, row, fit.convexity().minimiser, count);
    for (const double time : {kInf, 1e3 / fit.convexity().kappa}) {
      const NeighbourBounds bounds = neighbour_bounds(
          fit, {row, c.replacement},
          FlowRelease{time, Isotropic{c.variance, d}, point_distribution(VectorXd::Zero(d))});
      ASSERT_TRUE(bounds.risk.has_value());
      const Views views = views_of(*bounds.risk);
      expect_covers(views, truth);
      add_ratios(views, truth, time == kInf ? local : before);
    }
  }
  std::printf(
      "%-28s median of bound/truth: KL %.3g (%.3g), advantage %.3g (%.3g), delta(1) %.3g "
      "(%.3g), eps %.3g (%.3g)\n",
      what, median(local.kl), median(before.kl), median(local.advantage), median(before.advantage),
      median(local.delta), median(before.delta), median(local.epsilon), median(before.epsilon));
  EXPECT_LT(median(local.kl), most) << what;
}

VectorXd labels(RandomProblem& random, const MatrixXd& x, double slope) {
  VectorXd y(x.rows());
  for (Index i = 0; i < y.size(); ++i) {
    const double z = slope * x.row(i).sum();
    y(i) = random.integer(0, 1000000) < 1e6 / (1.0 + std::exp(-z)) ? 1.0 : 0.0;
  }
  return y;
}

RidgeOptions ridge_of(RandomProblem& random, double ridge, Index rows) {
  switch (random.integer(0, 2)) {
    case 0: return {LossScale::sum, ridge};
    case 1: return {LossScale::mean, ridge / static_cast<double>(rows)};
    default: return {LossScale::sum, ridge / static_cast<double>(rows), RidgeScale::times_rows};
  }
}

std::optional<Record> replacement_of(RandomProblem& random, Index d) {
  if (random.integer(0, 1) == 0) return std::nullopt;
  return Record{random.vector(d), double(random.integer(0, 1))};
}

/// With the mean, noise of the same weight as with the sum.
double noise_for(const RidgeOptions& options, double variance, Index rows) {
  return options.loss == LossScale::mean ? variance / static_cast<double>(rows) : variance;
}

Case few_rows(RandomProblem& random, Index d) {
  const Index rows = random.integer(2, 8);
  MatrixXd x = random.log_uniform(0.3, 2.0) * random.matrix(rows, d);
  VectorXd y = labels(random, x, 0.0);
  const RidgeOptions options = ridge_of(random, random.log_uniform(0.2, 2.0), rows);
  const double variance = random.log_uniform(0.05, 5.0);
  return {ClassificationProblem::logistic(std::move(x), std::move(y), options),
          replacement_of(random, d), noise_for(options, variance, rows)};
}

Case many_rows(RandomProblem& random, Index d) {
  const Index rows = random.integer(30, 300);
  MatrixXd x = random.matrix(rows, d);
  VectorXd y = labels(random, x, random.log_uniform(0.3, 4.0));
  const RidgeOptions options = ridge_of(random, random.log_uniform(0.03, 3.0), rows);
  const double variance = random.log_uniform(0.1, 3.0);
  return {ClassificationProblem::logistic(std::move(x), std::move(y), options),
          replacement_of(random, d), noise_for(options, variance, rows)};
}

/// Units from 1e-8 to 1e8, duplicates, separable classes, hardly any ridge, dominating rows, one row.
Case nasty(RandomProblem& random, Index d) {
  const Index rows = random.integer(1, 12);
  MatrixXd x = random.matrix(rows, d);
  VectorXd y = labels(random, x, random.integer(0, 1) == 0 ? 0.0 : 1e3);
  if (random.integer(0, 2) == 0) x.row(rows - 1) = x.row(0);
  if (random.integer(0, 2) == 0) x.row(0) *= random.log_uniform(10.0, 1e3);
  const double unit = random.log_uniform(1e-8, 1e8);
  x *= unit;
  RidgeOptions options = ridge_of(random, unit * unit * random.log_uniform(1e-5, 10.0), rows);
  std::optional<Record> replacement = replacement_of(random, d);
  if (replacement) replacement->features *= unit;
  if (rows == 1 && !replacement) replacement = Record{VectorXd::Constant(d, unit), 0.0};
  const double variance = random.log_uniform(1e-4, 1e3);
  return {ClassificationProblem::logistic(std::move(x), std::move(y), options), replacement,
          noise_for(options, variance, rows)};
}

TEST(StationaryRowsProperty, FewRows) {
  check("few rows, 1-D", 400, 801, 3.0, [](RandomProblem& r) { return few_rows(r, 1); });
  check("few rows, 2-D", 24, 121, 8.0, [](RandomProblem& r) { return few_rows(r, 2); });
}

TEST(StationaryRowsProperty, ManyRows) {
  check("many rows, 1-D", 200, 601, 2.0, [](RandomProblem& r) { return many_rows(r, 1); });
  check("many rows, 2-D", 24, 101, 6.0, [](RandomProblem& r) { return many_rows(r, 2); });
}

TEST(StationaryRowsProperty, NastyTables) {
  check("nasty, 1-D", 400, 801, 50.0, [](RandomProblem& r) { return nasty(r, 1); });
  check("nasty, 2-D", 16, 121, 1e5, [](RandomProblem& r) { return nasty(r, 2); });
}

/// Two classes and one feature: two parameters, integrated in the plane.
TEST(StationaryRowsProperty, Softmax) {
  std::vector<double> ratios;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(700 + seed);
    const Index rows = seed % 2 == 0 ? random.integer(2, 8) : random.integer(30, 200);
    const MatrixXd x = random.matrix(rows, 1);
    const RidgeOptions options = ridge_of(random, random.log_uniform(0.1, 3.0), rows);
    const Case c{ClassificationProblem::softmax(x, labels(random, x, 1.0), 2, options),
                 replacement_of(random, 1),
                 noise_for(options, random.log_uniform(0.05, 3.0), rows)};
    const ClassificationFit fit(c.problem);
    const Index row = random.integer(0, static_cast<int>(rows) - 1);
    const Truth truth = truth_of(c, row, fit.convexity().minimiser, 101);
    const Observer observer;
    const StationaryBound bound = StationaryPairs(fit, c.variance, c.replacement, observer)
                                      .bounds(std::vector<Index>{row}, observer)
                                      .front();
    EXPECT_GE(bound.forward, truth.kl[0] * (1.0 - 1e-5) - 1e-9);
    EXPECT_GE(bound.reverse, truth.kl[1] * (1.0 - 1e-5) - 1e-9);
    for (const LocalGdp& curve : bound.local) {
      for (std::size_t i = 0; i < kEpsilons.size(); ++i) {
        EXPECT_GE(delta_bound(curve, kEpsilons[i]), truth.delta[0][i] - 1e-9);
        EXPECT_GE(delta_bound(swapped(curve), kEpsilons[i]), truth.delta[1][i] - 1e-9);
      }
    }
    if (truth.kl[0] > 1e-7 && rows > 8) ratios.push_back(bound.forward / truth.kl[0]);
  }
  std::printf("softmax, many rows: median of bound/truth: KL %.3g\n", median(ratios));
  EXPECT_LT(median(ratios), 10.0);
}

}  // namespace
}  // namespace sfumato
