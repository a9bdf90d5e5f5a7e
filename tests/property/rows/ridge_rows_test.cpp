#include "sfumato/rows/ridge_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <cstring>
#include <unsupported/Eigen/KroneckerProduct>
#include <unsupported/Eigen/MatrixFunctions>

#include "sfumato/core/infinity.hpp"
#include "sfumato/risk/risk.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

struct Table {
  MatrixXd features;
  VectorXd target;
};

/// Everything below starts from the rows of a table and shares no code with row_risks but the
/// divergences of two distributions.
struct Loss {
  MatrixXd curvature;
  VectorXd pull;
};

Loss loss_of(const Table& table, const RidgeOptions& options) {
  const Index p = table.features.cols();
  Loss loss{MatrixXd::Zero(p, p), VectorXd::Zero(p)};
  const auto count = static_cast<double>(table.features.rows());
  const double weight = options.loss == LossScale::mean ? 1.0 / count : 1.0;
  for (Index i = 0; i < table.features.rows(); ++i) {
    const VectorXd x = table.features.row(i).transpose();
    loss.curvature += weight * x * x.transpose();
    loss.pull += weight * table.target(i) * x;
  }
  const double ridge =
      options.ridge_scale == RidgeScale::times_rows ? options.ridge * count : options.ridge;
  loss.curvature += ridge * MatrixXd::Identity(p, p);
  return loss;
}

Table neighbour(const Table& table, Index row, const std::optional<Record>& replacement) {
  Table result = table;
  if (replacement) {
    result.features.row(row) = replacement->features.transpose();
    result.target(row) = replacement->target;
    return result;
  }
  // Its place is empty: N stays.
  result.features.row(row).setZero();
  result.target(row) = 0.0;
  return result;
}

GaussianDistribution distribution_of(const Loss& loss, const MinimiserRelease& release) {
  return {loss.curvature.ldlt().solve(loss.pull), release.noise};
}

GaussianDistribution distribution_of(const Loss& loss, const FlowRelease& release) {
  const Index d = loss.pull.size();
  const MatrixXd eye = MatrixXd::Identity(d, d);
  const MatrixXd sigma = dense(release.noise);
  // A V + V A = Sigma as one linear system.
  const MatrixXd lyapunov = Eigen::kroneckerProduct(eye, loss.curvature).eval() +
                            Eigen::kroneckerProduct(loss.curvature, eye).eval();
  const VectorXd solution =
      lyapunov.partialPivLu().solve(Eigen::Map<const VectorXd>(sigma.data(), d * d));
  const MatrixXd limit = Eigen::Map<const MatrixXd>(solution.data(), d, d);
  const VectorXd minimiser = loss.curvature.ldlt().solve(loss.pull);
  if (release.time == kInf) return {minimiser, Dense{limit}};
  const MatrixXd decay = (-release.time * loss.curvature).exp();
  const MatrixXd start = dense(release.start.covariance);
  return {minimiser + decay * (release.start.mean - minimiser),
          Dense{limit + decay * (start - limit) * decay}};
}

/// Step by step; for the long run in steps that double until nothing changes.
GaussianDistribution distribution_of(const Loss& loss, const ChainRelease& release) {
  const Index d = loss.pull.size();
  const double eta = release.learning_rate;
  MatrixXd step = MatrixXd::Identity(d, d) - eta * loss.curvature;
  MatrixXd noise = eta * dense(release.noise);
  VectorXd force = eta * loss.pull;
  if (release.steps == kInf) {
    for (int doubling = 0; doubling < 40; ++doubling) {
      force += step * force;
      noise += step * noise * step.transpose();
      step = step * step;
    }
    return {force, Dense{noise}};
  }
  VectorXd mean = release.start.mean;
  MatrixXd covariance = dense(release.start.covariance);
  for (double k = 0.0; k < release.steps; ++k) {
    mean = step * mean + force;
    covariance = step * covariance * step + noise;
  }
  return {mean, Dense{covariance}};
}

double kl_from_definition(const GaussianDistribution& p, const GaussianDistribution& q) {
  const MatrixXd v = dense(p.covariance);
  const MatrixXd w = dense(q.covariance);
  const VectorXd gap = q.mean - p.mean;
  return 0.5 * (std::log(w.determinant() / v.determinant()) - static_cast<double>(gap.size()) +
                (w.inverse() * v).trace() + gap.dot(w.inverse() * gap));
}

struct Case {
  Table table;
  RidgeOptions ridge;
  RowRiskOptions options;
};

Case random_case(RandomProblem& random) {
  const Index p = random.integer(1, 4);
  const Index n = 2 * p + random.integer(2, 8);
  Table table{random.matrix(n, p), random.vector(n)};
  RidgeOptions ridge;
  ridge.loss = random.integer(0, 1) == 0 ? LossScale::sum : LossScale::mean;
  ridge.ridge = random.log_uniform(0.1, 1.0);
  if (ridge.loss == LossScale::sum && random.integer(0, 1) == 0) {
    ridge.ridge_scale = RidgeScale::times_rows;
  }
  const double scale = random.log_uniform(0.3, 3.0);
  const auto noise = [&]() -> Covariance {
    switch (random.integer(0, 2)) {
      case 0: return Isotropic{scale, p};
      case 1: return Diagonal{scale * (random.vector(p).array().square() + 0.2).matrix()};
      default: {
        const MatrixXd root = random.matrix(p, p);
        return Dense{scale * (root * root.transpose() + 0.3 * MatrixXd::Identity(p, p))};
      }
    }
  };
  const auto release = [&]() -> Release {
    switch (random.integer(0, 5)) {
      case 0: return FlowRelease{kInf, Isotropic{scale, p}, point_distribution(VectorXd::Zero(p))};
      case 1: return FlowRelease{kInf, noise(), point_distribution(random.vector(p))};
      case 2:
        return FlowRelease{
            random.log_uniform(0.05, 1.0),
            noise(),
            {random.vector(p), random.integer(0, 1) == 0 ? Covariance{Isotropic{0.0, p}}
                                                         : Covariance{Isotropic{0.5, p}}}};
      case 3:
      case 4: {
        // Below 2 / lam_max of the table and of every neighbour.
        const double largest = table.features.squaredNorm() + 10.0 * static_cast<double>(n);
        const double eta =
            random.log_uniform(0.1, 1.0) /
            (ridge.loss == LossScale::mean ? largest / static_cast<double>(n) : largest);
        const double steps = random.integer(0, 19) == 0 ? kInf : random.integer(1, 60);
        return ChainRelease{eta, steps, noise(), {random.vector(p), Isotropic{0.1, p}}};
      }
      default: return MinimiserRelease{noise()};
    }
  };
  RowRiskOptions options{release(), std::nullopt, {Epsilon{0.0}, Epsilon{0.3}}, Delta{1e-4}, 1};
  if (random.integer(0, 1) == 0) options.replacement = Record{random.vector(p), random.normal()};
  return {std::move(table), ridge, std::move(options)};
}

void expect_close(const RiskNumber& got, double expected, double tolerance, const char* what) {
  EXPECT_NEAR(got.value, expected, tolerance * (1e-3 + std::abs(expected))) << what;
}

TEST(RidgeRowsProperty, AgreesWithTablesRebuiltRowByRow) {
  int rows = 0;
  for (std::uint64_t seed = 0; rows < 3000; ++seed) {
    RandomProblem random(seed);
    const Case c = random_case(random);
    const RidgeProblem problem(c.table.features, c.table.target, c.ridge);
    Observer observer;
    const auto risks = row_risks(problem, c.options, observer);
    ASSERT_EQ(static_cast<Index>(risks.size()), c.table.features.rows());
    for (Index row = 0; row < c.table.features.rows(); ++row) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " row " << row);
      ++rows;
      const auto distribution = [&](const Table& table) {
        return std::visit(
            [&](const auto& r) { return distribution_of(loss_of(table, c.ridge), r); },
            c.options.release);
      };
      const GaussianDistribution p = distribution(c.table);
      const GaussianDistribution q = distribution(neighbour(c.table, row, c.options.replacement));
      const RowRisk& got = risks[static_cast<std::size_t>(row)];
      ASSERT_EQ(got.status, RowStatus::ok) << got.message;
      EXPECT_EQ(got.row, row);
      expect_close(got.forward.kl, kl_from_definition(p, q), 1e-9, "kl forward");
      expect_close(got.reverse.kl, kl_from_definition(q, p), 1e-9, "kl reverse");
      const Risk risk = Risk::exact(whiten(p, q));
      expect_close(got.advantage, risk.advantage().value, 1e-8, "advantage");
      expect_close(got.forward.delta[0], got.advantage.value, 1e-8, "delta at 0");
      for (const Direction direction : kDirections) {
        const DirectedRisk& view = direction == Direction::forward ? got.forward : got.reverse;
        expect_close(view.delta[1], risk.delta(direction, Epsilon{0.3}).value.probability(), 1e-7,
                     "delta");
        expect_close(view.epsilon, risk.epsilon(direction, Delta{1e-4}).value.nats(), 1e-7,
                     "epsilon");
      }
    }
  }
}

bool same_bits(const RowRisk& a, const RowRisk& b) {
  const auto numbers = [](const RowRisk& r) {
    std::vector<double> all{r.leverage.value, r.advantage.value};
    for (const DirectedRisk* d : {&r.forward, &r.reverse}) {
      all.push_back(d->kl.value);
      all.push_back(d->epsilon.value);
      for (const RiskNumber& n : d->delta) all.push_back(n.value);
    }
    return all;
  };
  const auto x = numbers(a);
  const auto y = numbers(b);
  return a.row == b.row && a.status == b.status && x.size() == y.size() &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

TEST(RidgeRowsProperty, ThreadsDoNotChangeABit) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomProblem random(1'000'000 + seed);
    Case c = random_case(random);
    const Index p = c.table.features.cols();
    const RidgeProblem problem(random.matrix(300, p), random.vector(300), c.ridge);
    Observer observer;
    const auto one = row_risks(problem, c.options, observer);
    for (const unsigned threads : {2U, 5U}) {
      c.options.threads = threads;
      const auto many = row_risks(problem, c.options, observer);
      ASSERT_EQ(many.size(), one.size());
      for (std::size_t i = 0; i < one.size(); ++i) ASSERT_TRUE(same_bits(one[i], many[i])) << i;
    }
  }
}

}  // namespace
}  // namespace sfumato
