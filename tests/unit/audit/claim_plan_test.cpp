#include "sfumato/audit/claim_plan.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

const ClaimedGuarantee kClaim{Epsilon(3.0), Delta(1e-5)};

AuditOptions options_at(double confidence) {
  AuditOptions options;
  options.confidence = confidence;
  return options;
}

const ThresholdPlan& of(const ClaimPlan& plan, ThresholdStrategy strategy) {
  for (const ThresholdPlan& row : plan.plans) {
    if (row.strategy == strategy) return row;
  }
  throw InternalError("no such strategy");
}

TEST(ClaimPlan, TheNeededModelsAreTheLeastThatRefute) {
  const ClaimPlan plan = plan_claim(kClaim, {}, options_at(0.95));
  EXPECT_EQ(plan.plans.size(), 4U);
  EXPECT_EQ(plan.plans.front().strategy, ThresholdStrategy::combined);
  const std::uint64_t needed = of(plan, ThresholdStrategy::fixed).needed.perfect.value();
  EXPECT_GT(maximum_epsilon(needed, kClaim.delta, 0.05), 3.0);  // Spec §11.3
  EXPECT_LE(maximum_epsilon(needed - 1, kClaim.delta, 0.05), 3.0);
}

TEST(ClaimPlan, PlannedModelsAreEnoughFromTheNeededNumberOn) {
  const std::uint64_t needed =
      plan_claim(kClaim, {}, options_at(0.95)).plans.front().needed.perfect.value();
  EXPECT_TRUE(plan_claim(kClaim, {needed, 1}, options_at(0.95)).enough());
  EXPECT_FALSE(plan_claim(kClaim, {needed - 1, 1}, options_at(0.95)).enough());
  EXPECT_FALSE(plan_claim(kClaim, {needed, 4}, options_at(0.95)).enough());  // a level for each
  EXPECT_FALSE(plan_claim(kClaim, {needed, 1}, options_at(0.999)).enough());
}

TEST(ClaimPlan, ModelsThatAreNotSettledShowNothing) {
  const ClaimPlan plan = plan_claim(kClaim, {}, options_at(0.95));
  EXPECT_FALSE(plan.enough());
  for (const ThresholdPlan& row : plan.plans) EXPECT_FALSE(row.maximum);
}

TEST(ClaimPlan, OneModelCannotBeSplit) {
  const ClaimPlan plan = plan_claim(kClaim, {1, 1}, options_at(0.95));
  EXPECT_EQ(of(plan, ThresholdStrategy::combined).maximum->value, 0.0);
  EXPECT_EQ(of(plan, ThresholdStrategy::held_out).maximum->value, 0.0);
}

TEST(ClaimPlan, WeakerAttacksNeedMoreOrCannot) {
  const RunsNeeded needed = plan_claim(kClaim, {}, options_at(0.95)).plans.front().needed;
  EXPECT_GT(needed.half.value(), needed.perfect.value());
  EXPECT_GT(needed.tenth.value(), needed.half.value());
  // TPR / FPR = 50 is epsilon 3.9, and no number of models shows more than the attack has.
  const ClaimedGuarantee large{Epsilon(6.0), Delta(1e-5)};
  EXPECT_FALSE(plan_claim(large, {}, options_at(0.95)).plans.front().needed.half);
}

TEST(ClaimPlan, TheStrategyThatWasAskedForComesFirst) {
  AuditOptions options = options_at(0.95);
  options.strategy = ThresholdStrategy::ranks;
  const ClaimPlan plan = plan_claim(kClaim, {100, 1}, options);
  EXPECT_EQ(plan.plans.front().strategy, ThresholdStrategy::ranks);
  EXPECT_EQ(plan.plans.size(), 4U);
}

}  // namespace
}  // namespace sfumato
