#include <gtest/gtest.h>

#include "lab/study/plan_answer.hpp"
#include "lab/study/scheduler/calibrate.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

AuditOptions fixed(double confidence = 0.95) {
  AuditOptions options;
  options.confidence = confidence;
  options.strategy = ThresholdStrategy::fixed;
  options.thresholds = {0.5};
  return options;
}

TEST(PerfectAudit, CapsAsTheSpecSays) {
  AuditSpec audit;
  audit.replicas = 10;
  EXPECT_EQ(models_per_sample(audit), 10U);
  // Spec §11.3: ten and ten models show 0.8 at most.
  EXPECT_NEAR(maximum_audit(audit, fixed()).maximum_epsilon(Delta(0.0)), 0.80715, 1e-5);
  EXPECT_EQ(maximum_audit(audit, fixed()).maximum_epsilon(Delta(1e-5)),
            maximum_epsilon(10, Delta(1e-5), 1.0 - 0.95));
}

TEST(PerfectAudit, PairsShareTheLevelUnlessEachReplicaDrawsItsOwn) {
  AuditSpec audit;
  audit.replicas = 20;
  audit.pairs = 5;
  EXPECT_EQ(maximum_audit(audit, fixed()).maximum_epsilon(Delta(1e-5)),
            maximum_epsilon(20, Delta(1e-5), (1.0 - 0.95) / 5.0));
  audit.random_pairs = true;
  EXPECT_EQ(models_per_sample(audit), 100U);
  EXPECT_EQ(maximum_audit(audit, fixed()).maximum_epsilon(Delta(1e-5)),
            maximum_epsilon(100, Delta(1e-5), 1.0 - 0.95));
}

TEST(PerfectAudit, AsManyRunsAsItSaysAreEnough) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    for (const ThresholdStrategy strategy :
         {ThresholdStrategy::combined, ThresholdStrategy::fixed, ThresholdStrategy::held_out}) {
      AuditSpec audit;
      audit.replicas = 2;
      AuditOptions options = fixed();
      options.strategy = strategy;
      const auto runs = maximum_audit(audit, options).runs_to_refute(Epsilon(epsilon), Delta(1e-5));
      ASSERT_TRUE(runs);
      audit.replicas = *runs;
      EXPECT_GT(maximum_audit(audit, options).maximum_epsilon(Delta(1e-5)), epsilon);
      audit.replicas = *runs - 2;  // halves are rounded
      EXPECT_LE(maximum_audit(audit, options).maximum_epsilon(Delta(1e-5)), epsilon);
    }
  }
}

TEST(PerfectAudit, WeakerAttacksNeedMore) {
  AuditSpec audit;
  const Audit perfect = maximum_audit(audit, fixed());
  const auto best = perfect.runs_to_refute(Epsilon(1.0), Delta(1e-5));
  const auto weaker = perfect.runs_to_refute(Epsilon(1.0), Delta(1e-5), {0.5, 0.01});
  EXPECT_LT(*best, *weaker);
  EXPECT_FALSE(perfect.runs_to_refute(Epsilon(1.0), Delta(1e-5), {0.5, 0.4}));  // e^1 0.4 > 0.5
}

TEST(PerfectAudit, TheDefaultNeedsTwoModels) {
  AuditSpec audit;
  audit.replicas = 1;
  AuditOptions options;
  EXPECT_THROW((void)maximum_audit(audit, options), InvalidArgument);
}

TEST(Calibrate, MeasuresWholeGroupsOrExtrapolates) {
  const SmallStudy small;
  Observer quiet;
  const TimeCalibration whole = calibrate(small.study(), 2, 5.0, quiet);
  EXPECT_TRUE(whole.whole);
  EXPECT_EQ(whole.threads, 2U);
  EXPECT_GT(whole.group_seconds, 0.0);
  const TimeCalibration part =
      calibrate(small.study({"train.iterations=100000000"}), 1, 0.05, quiet);
  EXPECT_FALSE(part.whole);
  // Twice the steps, twice the time, but for noise: far more than the time it measured.
  EXPECT_GT(part.group_seconds, 1.0);
  EXPECT_TRUE(std::isfinite(part.group_seconds));
  EXPECT_THROW((void)calibrate(small.study(), 0, 1.0, quiet), InvalidArgument);
}

TEST(Calibrate, WorkersTakeGroupsInTurn) {
  const TimeCalibration calibration{2, 3.0, true};
  EXPECT_EQ(predicted_seconds(calibration, 10, 1), 30.0);
  EXPECT_EQ(predicted_seconds(calibration, 10, 3), 12.0);
  EXPECT_EQ(predicted_seconds(calibration, 10, 100), 3.0);
  EXPECT_EQ(predicted_seconds(calibration, 0, 4), 0.0);
  EXPECT_THROW((void)predicted_seconds(calibration, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
