#include "sfumato/rows/ridge_rows.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A = 14 and b = 13 for the whole table; without row 2: A' = 5, b' = 7.
RidgeProblem scalar_problem() {
  return RidgeProblem(MatrixXd(Vector3d(1, 2, 3)), Vector3d(1, 3, 2), {});
}

RowRiskOptions options_for(Release release) {
  return {std::move(release), std::nullopt, {Epsilon{0.5}, Epsilon{2.0}}, Delta{1e-3}, 1};
}

FlowRelease flow(double time, Covariance noise) {
  const Eigen::Index d = dimension(noise);
  return {time, std::move(noise), point_distribution(VectorXd::Zero(d))};
}

TEST(RidgeRows, ReleaseOfTheMinimiserIsAGaussianMechanism) {
  Observer observer;
  const double deviation = 0.3;
  const auto risks =
      row_risks(scalar_problem(),
                options_for(MinimiserRelease{Isotropic{deviation * deviation, 1}}), observer);
  ASSERT_EQ(risks.size(), 3U);
  const RowRisk& risk = risks[2];
  const double mu = (7.0 / 5.0 - 13.0 / 14.0) / deviation;
  EXPECT_EQ(risk.row, 2);
  EXPECT_EQ(risk.status, RowStatus::ok);
  EXPECT_NEAR(risk.leverage.value, 9.0 / 14.0, 1e-15);
  EXPECT_NEAR(risk.forward.kl.value, 0.5 * mu * mu, 1e-13);
  EXPECT_NEAR(risk.reverse.kl.value, 0.5 * mu * mu, 1e-13);
  EXPECT_NEAR(risk.advantage.value, std::erf(mu / std::sqrt(8.0)), 1e-13);
  ASSERT_EQ(risk.forward.delta.size(), 2U);
  EXPECT_NEAR(risk.forward.delta[0].value, gdp_delta(mu, 0.5).delta, 1e-13);
  EXPECT_NEAR(risk.reverse.delta[1].value, gdp_delta(mu, 2.0).delta, 1e-13);
  EXPECT_NEAR(risk.forward.epsilon.value, gdp_epsilon(mu, Delta{1e-3}).nats(), 1e-10);
  EXPECT_EQ(risk.forward.epsilon.claim, Claim::exact);
}

TEST(RidgeRows, StationaryFlowByHand) {
  // P = N(13/14, s^2/28), Q = N(7/5, s^2/10).
  Observer observer;
  const double variance = 2.0;
  const auto risks =
      row_risks(scalar_problem(), options_for(flow(kInf, Isotropic{variance, 1})), observer);
  const double gap = 7.0 / 5.0 - 13.0 / 14.0;
  const double forward = 0.5 * (5.0 / 14.0 - 1.0 - std::log(5.0 / 14.0) + gap * gap * 5.0);
  const double reverse = 0.5 * (14.0 / 5.0 - 1.0 - std::log(14.0 / 5.0) + gap * gap * 14.0);
  EXPECT_NEAR(risks[2].forward.kl.value, forward, 1e-14);
  EXPECT_NEAR(risks[2].reverse.kl.value, reverse, 1e-13);
}

ChainRelease chain(double learning_rate, double steps, Covariance noise) {
  const Eigen::Index d = dimension(noise);
  return {learning_rate, steps, std::move(noise), point_distribution(VectorXd::Zero(d))};
}

TEST(RidgeRows, TwoStepsByHand) {
  // x_2 = (1 - eta A) x_1 + eta b + noise, x_1 ~ N(eta b, eta s^2); A, b = 14, 13 and 5, 7.
  Observer observer;
  const double eta = 0.1;
  const double variance = 2.0;
  const auto risks =
      row_risks(scalar_problem(), options_for(chain(eta, 2.0, Isotropic{variance, 1})), observer);
  const auto mean = [&](double a, double b) { return eta * b * (2.0 - eta * a); };
  const auto spread = [&](double a) {
    return eta * variance * (1.0 + (1.0 - eta * a) * (1.0 - eta * a));
  };
  const double gap = mean(14, 13) - mean(5, 7);
  const double ratio = spread(14) / spread(5);
  EXPECT_NEAR(risks[2].forward.kl.value,
              0.5 * (ratio - 1.0 - std::log(ratio) + gap * gap / spread(5)), 1e-13);
  EXPECT_NEAR(risks[2].reverse.kl.value,
              0.5 * (1.0 / ratio - 1.0 + std::log(ratio) + gap * gap / spread(14)), 1e-13);
  EXPECT_EQ(risks[2].forward.kl.claim, Claim::exact);
}

TEST(RidgeRows, TheChainBecomesTheFlow) {
  Observer observer;
  const auto kl = [&](const Release& release) {
    return row_risks(scalar_problem(), options_for(release), observer)[2].forward.kl.value;
  };
  for (const double time : {0.1, kInf}) {
    const double limit = kl(flow(time, Isotropic{2.0, 1}));
    double before = 0.0;
    for (const double eta : {1e-3, 5e-4, 2.5e-4}) {
      const double error = std::abs(kl(chain(eta, time / eta, Isotropic{2.0, 1})) - limit);
      EXPECT_LT(error, 20.0 * eta * limit);
      if (before > 0.0) {
        EXPECT_NEAR(before / error, 2.0, 0.3) << "first order in the step";
      }
      before = error;
    }
  }
}

TEST(RidgeRows, StepsTooLongForTheTableAreRefusedInTheLongRunOnly) {
  Observer observer;
  const auto run = [&](double steps) {
    return row_risks(scalar_problem(), options_for(chain(0.15, steps, Isotropic{1.0, 1})),
                     observer);
  };
  EXPECT_EQ(run(10.0)[0].status, RowStatus::ok);  // eta A = 2.1
  EXPECT_THROW((void)run(kInf), NumericalFailure);
  // Replaced by a longer row only D' runs away.
  RowRiskOptions options = options_for(chain(0.14, kInf, Isotropic{1.0, 1}));
  options.replacement = Record{VectorXd::Constant(1, 3.0), 1.0};
  const auto risks = row_risks(scalar_problem(), options, observer);
  EXPECT_EQ(risks[0].status, RowStatus::failed);
  EXPECT_NE(risks[0].message.find("runs away"), std::string::npos);
  EXPECT_EQ(risks[2].status, RowStatus::ok);
}

TEST(RidgeRows, NothingHasHappenedAtTimeZero) {
  Observer observer;
  for (const RowRisk& risk :
       row_risks(scalar_problem(), options_for(flow(0.0, Isotropic{1.0, 1})), observer)) {
    EXPECT_EQ(risk.status, RowStatus::ok);
    EXPECT_EQ(risk.forward.kl.value, 0.0);
    EXPECT_EQ(risk.advantage.value, 0.0);
    EXPECT_EQ(risk.forward.epsilon.value, 0.0);
  }
}

TEST(RidgeRows, ReplacingARowByItselfIsNoRisk) {
  Observer observer;
  RowRiskOptions options = options_for(flow(kInf, Isotropic{1.0, 1}));
  options.replacement = Record{VectorXd::Constant(1, 2.0), 3.0};
  const auto risks = row_risks(scalar_problem(), options, observer);
  EXPECT_EQ(risks[1].advantage.value, 0.0);
  EXPECT_GT(risks[0].advantage.value, 0.0);
}

TEST(RidgeRows, WithoutNoiseEverythingIsRevealed) {
  Observer observer;
  const auto risks =
      row_risks(scalar_problem(), options_for(MinimiserRelease{Isotropic{0.0, 1}}), observer);
  EXPECT_EQ(risks[2].status, RowStatus::ok);
  EXPECT_EQ(risks[2].forward.kl.value, kInf);
  EXPECT_EQ(risks[2].advantage.value, 1.0);
  EXPECT_EQ(risks[2].forward.delta[1].value, 1.0);
  EXPECT_EQ(risks[2].reverse.epsilon.value, kInf);
}

TEST(RidgeRows, ARowThatDeterminesAParameterAloneIsAnOutcome) {
  Observer observer;
  const MatrixXd x = (MatrixXd(3, 2) << 1, 0, 2, 0, 3, 1).finished();
  const RidgeProblem problem(x, Vector3d(1, 2, 4), {});
  const MatrixXd correlated = (MatrixXd(2, 2) << 1, .2, .2, 1).finished();
  for (const Release& release :
       {Release{flow(kInf, Isotropic{1.0, 2})}, Release{flow(kInf, Dense{correlated})},
        Release{chain(0.01, kInf, Isotropic{1.0, 2})},
        Release{MinimiserRelease{Isotropic{1.0, 2}}}}) {
    const auto risks = row_risks(problem, options_for(release), observer);
    EXPECT_EQ(risks[0].status, RowStatus::ok);
    EXPECT_EQ(risks[2].status, RowStatus::no_model);
    EXPECT_TRUE(std::isnan(risks[2].advantage.value));
    EXPECT_FALSE(risks[2].message.empty());
  }
  // At a finite time both distributions exist.
  const auto risks = row_risks(problem, options_for(flow(1.0, Isotropic{1.0, 2})), observer);
  EXPECT_EQ(risks[2].status, RowStatus::ok);
  EXPECT_LT(risks[2].advantage.value, 1.0);
}

TEST(RidgeRows, SingularTablesHaveFlowsButNoStationaryDistribution) {
  Observer observer;
  const RidgeProblem wide(MatrixXd::Random(2, 3), Vector2d(1, 2), {});
  EXPECT_EQ(row_risks(wide, options_for(flow(1.0, Isotropic{1.0, 3})), observer)[0].status,
            RowStatus::ok);
  const MatrixXd correlated = MatrixXd::Constant(3, 3, .2) + MatrixXd::Identity(3, 3);
  for (const Release& release :
       {Release{flow(kInf, Isotropic{1.0, 3})}, Release{flow(kInf, Dense{correlated})},
        Release{MinimiserRelease{Isotropic{1.0, 3}}}}) {
    EXPECT_THROW((void)row_risks(wide, options_for(release), observer), NumericalFailure);
  }
}

TEST(RidgeRows, RefusesWhatItCannotUse) {
  Observer observer;
  const RidgeProblem problem = scalar_problem();
  const auto run = [&](const RowRiskOptions& options) {
    (void)row_risks(problem, options, observer);
  };
  EXPECT_THROW(run(options_for(flow(-1.0, Isotropic{1.0, 1}))), InvalidArgument);
  EXPECT_THROW(run(options_for(flow(NAN, Isotropic{1.0, 1}))), InvalidArgument);
  EXPECT_THROW(run(options_for(flow(1.0, Isotropic{1.0, 2}))), InvalidArgument);
  EXPECT_THROW(run(options_for(flow(1.0, Isotropic{-1.0, 1}))), InvalidArgument);
  EXPECT_THROW(run(options_for(chain(0.0, 1.0, Isotropic{1.0, 1}))), InvalidArgument);
  EXPECT_THROW(run(options_for(chain(0.1, 1.5, Isotropic{1.0, 1}))), InvalidArgument);
  EXPECT_THROW(run(options_for(chain(0.1, 1.0, Isotropic{1.0, 2}))), InvalidArgument);
  EXPECT_THROW(run(options_for(chain(0.1, 1.0, Isotropic{-1.0, 1}))), InvalidArgument);
  EXPECT_THROW(run(options_for(MinimiserRelease{Isotropic{1.0, 2}})), InvalidArgument);
  EXPECT_THROW(run(options_for(MinimiserRelease{Isotropic{NAN, 1}})), InvalidArgument);
  EXPECT_THROW(
      run(options_for(FlowRelease{1.0, Isotropic{1.0, 1}, point_distribution(Vector2d(0, 0))})),
      InvalidArgument);
  RowRiskOptions replace = options_for(flow(1.0, Isotropic{1.0, 1}));
  replace.replacement = Record{Vector2d(1, 2), 0.0};
  EXPECT_THROW(run(replace), InvalidArgument);
  replace.replacement = Record{VectorXd::Constant(1, NAN), 0.0};
  EXPECT_THROW(run(replace), InvalidArgument);
  replace.replacement = Record{VectorXd::Constant(1, 1.0), kInf};
  EXPECT_THROW(run(replace), InvalidArgument);
}

class CountingObserver : public Observer {
 public:
  explicit CountingObserver(std::uint64_t stop_after = ~0ULL) : stop_after_(stop_after) {}
  void progress(std::string_view, std::uint64_t done, std::uint64_t total) override {
    std::uint64_t seen = done_;
    while (seen < done && !done_.compare_exchange_weak(seen, done)) {
    }
    total_ = total;
  }
  [[nodiscard]] bool stop_requested() const override { return done_ >= stop_after_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::uint64_t stop_after_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
};

TEST(RidgeRows, ReportsProgressAndStopsWhenAsked) {
  const VectorXd x = VectorXd::LinSpaced(500, 1.0, 2.0);
  const RidgeProblem problem(MatrixXd(x), x.array().sin().matrix(), {});
  const RowRiskOptions options = options_for(MinimiserRelease{Isotropic{1.0, 1}});
  CountingObserver whole;
  (void)row_risks(problem, options, whole);
  EXPECT_EQ(whole.done(), 500U);
  EXPECT_EQ(whole.total(), 500U);

  CountingObserver stopping(100);
  const auto risks = row_risks(problem, options, stopping);
  ASSERT_EQ(risks.size(), 500U);
  EXPECT_EQ(risks.front().status, RowStatus::ok);
  EXPECT_EQ(risks.back().status, RowStatus::not_computed);
  EXPECT_EQ(risks.back().row, 499);
}

struct StoppedAtOnce final : Observer {
  [[nodiscard]] bool stop_requested() const override { return true; }
};

TEST(RidgeRows, AStopBeforeTheFirstRowLeavesAllOfThem) {
  const RidgeProblem problem = scalar_problem();
  StoppedAtOnce stopped;
  const auto risks = row_risks(problem, options_for(flow(kInf, Isotropic{1.0, 1})), stopped);
  ASSERT_EQ(risks.size(), 3U);
  for (std::size_t i = 0; i < risks.size(); ++i) {
    EXPECT_EQ(risks[i].row, static_cast<Eigen::Index>(i));
    EXPECT_EQ(risks[i].status, RowStatus::not_computed);
  }
  EXPECT_THROW(RidgeProblem(MatrixXd(Vector3d(1, 2, 3)), Vector3d(1, 3, 2), {}, stopped), Stopped);
}

/// `independent` columns without pattern and as many again that repeat them.
MatrixXd repeated_columns(Eigen::Index rows, Eigen::Index independent) {
  MatrixXd features(rows, 2 * independent);
  for (Eigen::Index j = 0; j < independent; ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) {
      features(i, j) = std::sin(static_cast<double>(1 + i) * static_cast<double>(1 + j * j));
    }
    features.col(independent + j) = features.col(j);
  }
  return features;
}

// Above 128 parameters nothing has more digits than a double: what it cannot tell is not said.
TEST(RidgeRows, WideSingularTablesHaveBoundsAndRefusals) {
  const Eigen::Index rows = 160;
  const RidgeProblem problem(repeated_columns(rows, 65), VectorXd::LinSpaced(rows, -1.0, 1.0), {});
  EXPECT_TRUE(problem.leverages_are_lower_bounds());
  // The truth: of the table without the repetitions.
  const RidgeProblem half(repeated_columns(rows, 65).leftCols(65),
                          VectorXd::LinSpaced(rows, -1.0, 1.0), {});
  EXPECT_FALSE(half.leverages_are_lower_bounds());
  for (Eigen::Index row = 0; row < rows; ++row) {
    EXPECT_LE(problem.leverage(row), half.leverage(row) * (1.0 + 1e-9));
    EXPECT_GE(problem.leverage(row), half.leverage(row) * (1.0 - 1e-4));
  }
  Observer observer;
  EXPECT_THROW((void)row_risks(problem, options_for(flow(kInf, Isotropic{1.0, 130})), observer),
               NumericalFailure);
}

}  // namespace
}  // namespace sfumato
