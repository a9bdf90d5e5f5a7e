#include "sfumato/rows/classification_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/infinity.hpp"
#include "sfumato/rows/neighbour_bounds.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ClassificationFit fit_of(double ridge) {
  const MatrixXd x =
      (MatrixXd(6, 2) << 1.0, 0.2, -0.4, 1.0, 2.0, -1.0, 0.3, 0.3, -1.5, 0.8, 0.0, -2.0).finished();
  return ClassificationFit(ClassificationProblem::logistic(
      x, (VectorXd(6) << 1, 0, 1, 0, 0, 1).finished(), {LossScale::sum, ridge}));
}

RowRiskOptions options_for(Release release) {
  return {std::move(release), std::nullopt, {}, Delta{1e-3}, 1};
}

FlowRelease flow(double time) {
  return {time, Isotropic{1.0, 2}, point_distribution(VectorXd::Zero(2))};
}
ChainRelease chain(double eta, double steps) {
  return {eta, steps, Isotropic{1.0, 2}, point_distribution(VectorXd::Zero(2))};
}

TEST(ClassificationCheck, IsBelowTheProvenBounds) {
  Observer observer;
  const ClassificationFit fit = fit_of(0.5);
  for (const Release& release :
       {Release{flow(0.5)}, Release{flow(kInf)}, Release{chain(0.2, 1.0)},
        Release{chain(0.2, 10.0)}, Release{chain(0.2, kInf)}, Release{chain(1.5, 4.0)}}) {
    const RowRiskOptions options = options_for(release);
    const auto rows = row_bounds(fit, options, observer).rows;
    for (Index row = 0; row < 6; ++row) {
      const RowCheck check = check_row(fit, row, options, {.seed = 3, .paths = 400}, observer);
      EXPECT_EQ(check.reason, "");
      EXPECT_EQ(check.paths, 400U);
      const RowRisk& risk = rows[static_cast<std::size_t>(row)];
      EXPECT_GT(check.forward.value, 0.0);
      EXPECT_GT(check.reverse.value, 0.0);
      EXPECT_LE(check.forward.value, risk.forward.kl.value) << release.index() << " row " << row;
      EXPECT_LE(check.reverse.value, risk.reverse.kl.value) << release.index() << " row " << row;
    }
  }
}

TEST(ClassificationCheck, OneStepFromAPointIsTheExactKl) {
  // From a point the two steps are normal with the same covariance: KL = eta |g - g'|^2 / 2.
  Observer observer;
  const ClassificationFit fit = fit_of(0.5);
  const double eta = 0.2;
  const VectorXd gradient =
      fit.problem().record_gradient(fit.problem().record(2), VectorXd::Zero(2));
  const RowCheck check =
      check_row(fit, 2, options_for(chain(eta, 1.0)), {.seed = 1, .paths = 16}, observer);
  EXPECT_NEAR(check.forward.value, 0.5 * eta * gradient.squaredNorm(), 1e-12);
  EXPECT_NEAR(check.forward.standard_error, 0.0, 1e-12);
  EXPECT_EQ(check.steps, 1U);
}

TEST(ClassificationCheck, TheLongRunIsTheLimitOfLongTimes) {
  Observer observer;
  const ClassificationFit fit = fit_of(2.0);
  for (const auto& [limit, late] :
       {std::pair{Release{flow(kInf)}, Release{flow(8.0)}},
        std::pair{Release{chain(0.1, kInf)}, Release{chain(0.1, 80)}}}) {
    const RowCheckOptions many{.seed = 5, .paths = 4000, .work = 1e11};
    const RowCheck a = check_row(fit, 2, options_for(limit), many, observer);
    const RowCheck b = check_row(fit, 2, options_for(late), many, observer);
    EXPECT_TRUE(a.stationary);
    EXPECT_FALSE(b.stationary);
    // Four standard errors and the bias of the flow's steps.
    EXPECT_NEAR(a.forward.value, b.forward.value,
                4.0 * std::hypot(a.forward.standard_error, b.forward.standard_error) +
                    0.05 * b.forward.value);
  }
}

TEST(ClassificationCheck, ThreadsDoNotChangeABit) {
  Observer observer;
  const ClassificationFit fit = fit_of(0.5);
  const auto run = [&](unsigned threads) {
    return check_row(fit, 1, options_for(flow(kInf)),
                     {.seed = 2, .paths = 2000, .work = 1e11, .threads = threads}, observer);
  };
  const RowCheck one = run(1);
  const RowCheck four = run(4);
  EXPECT_EQ(one.forward.value, four.forward.value);
  EXPECT_EQ(one.reverse.standard_error, four.reverse.standard_error);
}

TEST(ClassificationCheck, SaysWhyThereIsNoEstimate) {
  Observer observer;
  const ClassificationFit fit = fit_of(0.5);
  const auto reason = [&](const Release& release) {
    const RowCheck check = check_row(fit, 0, options_for(release), {}, observer);
    EXPECT_EQ(check.paths, 0U);
    return check.reason;
  };
  EXPECT_NE(reason(MinimiserRelease{Isotropic{1.0, 2}}).find("no paths"), std::string::npos);
  EXPECT_NE(reason(flow(1e9)).find("too long"), std::string::npos);
  EXPECT_NE(
      reason(FlowRelease{kInf, Isotropic{1e300, 2}, flow(1.0).start}).find("range of numbers"),
      std::string::npos);
  class Stopped : public Observer {
   public:
    [[nodiscard]] bool stop_requested() const override { return true; }
  } stopped;
  EXPECT_EQ(check_row(fit, 0, options_for(flow(1.0)), {}, stopped).reason, "stopped");
}

}  // namespace
}  // namespace sfumato
