#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "sfumato/core/infinity.hpp"
#include "sfumato/rows/ridge_rows.hpp"
#include "support/doubling_reference.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using doubling::Digits;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

/// Tables as people have them before they standardise anything, and worse.
struct Table {
  MatrixXd x;
  VectorXd y;
};

Table random_table(RandomProblem& random) {
  const Index rows = random.integer(2, 9);
  const Index columns = random.integer(1, 3);
  Table table{random.matrix(rows, columns), random.vector(rows)};
  for (Index j = 0; j < columns; ++j) table.x.col(j) *= std::pow(10.0, random.integer(-9, 9));
  table.y *= std::pow(10.0, random.integer(-6, 6));
  switch (random.integer(0, 5)) {
    case 0: table.x.row(1) = table.x.row(0); break;                  // a duplicate
    case 1: table.x.row(0) *= 1e6; break;                            // a leverage near 1
    case 2: table.x.col(columns - 1).setOnes(); break;               // an intercept
    case 3: table.x.row(0).setZero(); break;                         // a row that is not there
    case 4: table.x.col(0) = table.x.col(columns - 1) * 1.5; break;  // collinear
    default: break;
  }
  return table;
}

struct Loss {
  doubling::Matrix a;
  doubling::Vector pull;
};

Loss loss_of(const Table& table, const RidgeOptions& options, Index without,
             const std::optional<Record>& replacement) {
  const auto d = static_cast<std::size_t>(table.x.cols());
  Loss loss{doubling::zeros(d), doubling::Vector(d, Digits(0))};
  const auto add = [&](const VectorXd& x, double y) {
    for (std::size_t i = 0; i < d; ++i) {
      const Digits xi = x(static_cast<Index>(i));
      for (std::size_t j = 0; j < d; ++j) loss.a[i][j] += xi * Digits(x(static_cast<Index>(j)));
      loss.pull[i] += xi * Digits(y);
    }
  };
  double rows = 0.0;
  for (Index row = 0; row < table.x.rows(); ++row) {
    rows += 1.0;
    if (row == without && !replacement) continue;
    if (row == without) {
      add(replacement->features, replacement->target);
    } else {
      add(table.x.row(row), table.y(row));
    }
  }
  for (std::size_t i = 0; i < d; ++i) {
    if (options.loss == LossScale::mean) {
      for (Digits& value : loss.a[i]) value /= rows;
      loss.pull[i] /= rows;
    }
    const bool grows = options.ridge_scale == RidgeScale::times_rows;
    loss.a[i][i] += Digits(options.ridge) * (grows ? rows : 1.0);
  }
  return loss;
}

doubling::Matrix digits_of(const Covariance& covariance) {
  const MatrixXd matrix = dense(covariance);
  const auto d = static_cast<std::size_t>(matrix.rows());
  doubling::Matrix result = doubling::zeros(d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      result[i][j] = matrix(static_cast<Index>(i), static_cast<Index>(j));
    }
  }
  return result;
}

doubling::Step distribution_of(const Loss& loss, const Release& release) {
  if (const auto* flow = std::get_if<FlowRelease>(&release)) {
    return doubling::flow(loss.a, loss.pull, digits_of(flow->noise), flow->time);
  }
  const auto& chain = std::get<ChainRelease>(release);
  return doubling::chain(loss.a, loss.pull, chain.learning_rate,
                         doubling::scaled(digits_of(chain.noise), chain.learning_rate),
                         chain.steps);
}

Covariance random_noise(RandomProblem& random, Index d) {
  const double scale = std::pow(10.0, random.integer(-3, 3));
  switch (random.integer(0, 3)) {
    case 0: {
      VectorXd variances(d);
      for (double& v : variances) v = scale * std::pow(10.0, random.integer(-4, 4));
      return Diagonal{variances};
    }
    case 1: {
      const MatrixXd half = random.matrix(d, d);
      return Dense{scale * (half * half.transpose() + 0.1 * MatrixXd::Identity(d, d))};
    }
    default: return Isotropic{scale, d};
  }
}

Release random_release(RandomProblem& random, const Loss& loss, Index d) {
  const GaussianDistribution start = point_distribution(VectorXd::Zero(d));
  const auto largest = static_cast<double>(doubling::norm(loss.a));
  const Covariance noise = random_noise(random, d);
  switch (random.integer(0, 3)) {
    case 0: return FlowRelease{kInf, noise, start};
    case 1: return FlowRelease{std::pow(10.0, random.integer(-6, 6)) / largest, noise, start};
    case 2: {
      const double steps = std::floor(std::pow(10.0, random.integer(0, 9)));
      return ChainRelease{0.4 / largest, steps, noise, start};
    }
    default: return ChainRelease{0.4 / largest, kInf, noise, start};
  }
}

/// Tables to try; SFUMATO_TABLES for more.
std::uint64_t tables() {
  const char* asked = std::getenv("SFUMATO_TABLES");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 60;
}

/// A number that is printed with four digits has them, whatever the units of the columns are; what
/// has not is refused.
TEST(RowDigits, EveryNumberOfUnstandardisedTables) {
  int compared = 0;
  int refused = 0;
  int numbers = 0;
  for (std::uint64_t seed = 1; seed <= tables(); ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const Table table = random_table(random);
    const Index d = table.x.cols();
    RidgeOptions options{random.integer(0, 1) == 0 ? LossScale::sum : LossScale::mean,
                         std::pow(10.0, random.integer(-9, 3))};
    if (options.loss == LossScale::sum && random.integer(0, 2) == 0) {
      options.ridge_scale = RidgeScale::times_rows;
    }
    RowRiskOptions question{FlowRelease{}, {}, {Epsilon{1.0}}};
    question.threads = 1;
    if (random.integer(0, 2) == 0) {
      Record other{random.vector(d), random.vector(1)(0)};
      for (Index j = 0; j < d; ++j) other.features(j) *= table.x.col(j).cwiseAbs().maxCoeff();
      question.replacement = std::move(other);
    }
    const Loss whole = loss_of(table, options, -1, {});
    question.release = random_release(random, whole, d);
    const doubling::Step distribution = distribution_of(whole, question.release);
    const RidgeProblem problem(table.x, table.y, options);
    Observer observer;
    std::vector<RowRisk> risks;
    try {
      risks = row_risks(problem, question, observer);
    } catch (const NumericalFailure&) {
      ++refused;
      continue;
    }
    for (const RowRisk& risk : risks) {
      if (risk.status != RowStatus::ok) {
        ++refused;
        continue;
      }
      ++compared;
      const doubling::Step other = distribution_of(
          loss_of(table, options, risk.row, question.replacement), question.release);
      const double forward = doubling::kl(distribution, other);
      const double reverse = doubling::kl(other, distribution);
      EXPECT_NEAR(risk.forward.kl.value, forward, 1e-6 * forward + 1e-40) << risk.row;
      EXPECT_NEAR(risk.reverse.kl.value, reverse, 1e-6 * reverse + 1e-40) << risk.row;
      numbers += 2;
    }
  }
  EXPECT_GT(numbers, 8 * static_cast<int>(tables()) / 2);
  EXPECT_LT(refused, compared / 20) << "tables in mixed units are answered, not refused";
}

}  // namespace
}  // namespace sfumato
