#include "sfumato/design/iterated_design.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Eigen::VectorXd;

Claimed<Nats> kl(double value) { return {Nats{value}, Claim::exact, "test"}; }

DesignTask task_of(Eigen::Index d, DesignForm form) {
  return {.budget = trace_budget(d, 1.0), .form = form};
}

/// A KL of  sum_i g_i / v_i  for fixed g: one design is the optimum (Spec §9.1).
NoiseJudge fixed_moments(const VectorXd& g) {
  return [g](const Covariance& noise) -> NoiseJudgement {
    return {kl(g.cwiseQuotient(diagonal_of(noise)).sum()), Diagonal{g}};
  };
}

TEST(IterateDesign, FixedDifferencesAreSolvedByOneDesign) {
  const VectorXd g = Eigen::Vector3d(9.0, 4.0, 1.0);
  Observer observer;
  const IteratedDesign result =
      iterate_design(fixed_moments(g), task_of(3, DesignForm::diagonal), {}, observer);
  EXPECT_NEAR(result.result().kl.value.value(), 36.0, 36.0 * 1e-6);  // (3 + 2 + 1)^2
  EXPECT_NEAR(trace(result.result().noise), 1.0, 1e-12);
  EXPECT_EQ(result.rounds.front().kl.value.value(), 42.0);  // 3 (9 + 4 + 1)
  EXPECT_LE(result.rounds.size(), 4u);
  EXPECT_EQ(result.end, IterationEnd::converged);
}

TEST(IterateDesign, IsotropicNoiseIsLeftWhereItIsBest) {
  Observer observer;
  const IteratedDesign result = iterate_design(fixed_moments(VectorXd::Ones(4)),
                                               task_of(4, DesignForm::diagonal), {}, observer);
  EXPECT_EQ(result.rounds.size(), 1u);
  EXPECT_EQ(result.end, IterationEnd::stationary);
  const IteratedDesign form = iterate_design(fixed_moments(Eigen::Vector2d(9.0, 1.0)),
                                             task_of(2, DesignForm::isotropic), {}, observer);
  EXPECT_EQ(form.rounds.size(), 1u);
}

TEST(IterateDesign, KeepsTheBestWhenDesignsDoNotImprove) {
  Observer observer;
  const NoiseJudge stubborn = [](const Covariance& noise) -> NoiseJudgement {
    const bool isotropic = isotropic_variance(noise).has_value();
    return {kl(isotropic ? 1.0 : 2.0), Diagonal{Eigen::Vector2d(9.0, 1.0)}};
  };
  const IteratedDesign result =
      iterate_design(stubborn, task_of(2, DesignForm::diagonal), {}, observer);
  EXPECT_EQ(result.end, IterationEnd::no_improvement);
  EXPECT_EQ(result.best, 0u);
  EXPECT_GT(result.rounds.size(), 1u);
  for (std::size_t i = 1; i < result.rounds.size(); ++i) EXPECT_FALSE(result.rounds[i].accepted);
}

TEST(IterateDesign, WithoutAnythingToHideIsotropicNoiseStays) {
  Observer observer;
  const NoiseJudge rising = [](const Covariance&) -> NoiseJudgement {
    return {kl(1.0), Diagonal{Eigen::Vector2d(-1.0, -1.0)}};
  };
  const IteratedDesign result =
      iterate_design(rising, task_of(2, DesignForm::diagonal), {}, observer);
  EXPECT_EQ(result.end, IterationEnd::stationary);
  EXPECT_EQ(result.rounds.size(), 1u);
}

TEST(IterateDesign, GroupsShareTheirNoise) {
  Observer observer;
  DesignTask task = task_of(3, DesignForm::grouped);
  task.groups = {0, 0, 1};
  const IteratedDesign result =
      iterate_design(fixed_moments(Eigen::Vector3d(9.0, 1.0, 5.0)), task, {}, observer);
  const VectorXd variances = diagonal_of(result.result().noise);
  EXPECT_DOUBLE_EQ(variances(0), variances(1));
  // Groups of 10 with two coordinates and 5 with one: shares sqrt(20) to sqrt(5), 2 to 1.
  EXPECT_NEAR(2.0 * variances(0), 2.0 / 3.0, 1e-3);
}

class StopAtOnce : public Observer {
 public:
  [[nodiscard]] bool stop_requested() const override { return true; }
};

TEST(IterateDesign, StopsWhenAskedAndWhenOutOfRounds) {
  StopAtOnce stop;
  const NoiseJudge judge = fixed_moments(Eigen::Vector2d(9.0, 1.0));
  EXPECT_EQ(iterate_design(judge, task_of(2, DesignForm::diagonal), {}, stop).end,
            IterationEnd::stopped);
  Observer observer;
  EXPECT_EQ(
      iterate_design(judge, task_of(2, DesignForm::diagonal), {.max_rounds = 1}, observer).end,
      IterationEnd::out_of_rounds);
}

TEST(IterateDesign, RefusesWhatItCannotIterate) {
  Observer observer;
  const NoiseJudge judge = fixed_moments(Eigen::Vector2d(9.0, 1.0));
  DesignTask low_rank = task_of(2, DesignForm::low_rank);
  low_rank.regularisation = 0.1;
  EXPECT_THROW((void)iterate_design(judge, low_rank, {}, observer), InvalidArgument);
  DesignTask uneven = task_of(2, DesignForm::diagonal);
  uneven.floor = Eigen::Vector2d(0.1, 0.2);
  EXPECT_THROW((void)iterate_design(judge, uneven, {}, observer), InvalidArgument);
  EXPECT_THROW(
      (void)iterate_design(judge, task_of(2, DesignForm::diagonal), {.tolerance = 0.0}, observer),
      InvalidArgument);
}

}  // namespace
}  // namespace sfumato
