#include "sfumato/audit/claim_check.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

ScoreSample perfect(std::size_t models) {
  return {std::vector<double>(models, 1.0), std::vector<double>(models, 0.0)};
}

ScoreSample blurred() {
  ScoreSample sample = perfect(100);
  sample.with[0] = sample.with[1] = -1.0;
  for (std::size_t i = 10; i < 60; ++i) sample.without[i] = 1.0;
  return sample;
}

ClaimedGuarantee claim(double epsilon) { return {Epsilon(epsilon), Delta(0.0)}; }

TEST(ClaimCheck, DecidesOrSaysWhatIsMissing) {
  const Audit audit = audit_scores(perfect(100), AuditOptions{});
  const ClaimCheck violated = check_claim(audit, claim(2.0));
  EXPECT_EQ(violated.outcome, ClaimOutcome::violation);
  EXPECT_EQ(violated.verdict(), Verdict::violated);
  const ClaimCheck open = check_claim(audit, claim(3.0));
  EXPECT_EQ(open.outcome, ClaimOutcome::not_enough_runs);
  EXPECT_EQ(open.verdict(), Verdict::open);
  const Audit enough = audit_scores(perfect(open.runs_needed.value()), AuditOptions{});
  EXPECT_EQ(check_claim(enough, claim(3.0)).outcome, ClaimOutcome::violation);
  const ClaimCheck passed = check_claim(audit_scores(blurred(), AuditOptions{}), claim(2.0));
  EXPECT_EQ(passed.outcome, ClaimOutcome::not_refuted);
  EXPECT_EQ(passed.verdict(), Verdict::not_refuted);
  EXPECT_GT(passed.maximum, 2.0);
}

TEST(ClaimCheck, TestsThatLookedTheWrongWayLeaveItOpen) {
  const Audit audit = audit_scores(blurred(), AuditOptions{});
  const ClaimCheck open = check_claim(audit, claim(2.0), true);
  EXPECT_EQ(open.outcome, ClaimOutcome::wrong_way);
  EXPECT_EQ(open.verdict(), Verdict::open);
  // What is shown is shown, and what could not be shown neither way round.
  EXPECT_EQ(check_claim(audit, claim(0.0), true).outcome, ClaimOutcome::violation);
  EXPECT_EQ(check_claim(audit, claim(9.0), true).outcome, ClaimOutcome::not_enough_runs);
}

TEST(ClaimCheck, OfOneRun) {
  const OneRunAudit right({{100, 60, 60}}, 0.95), half({{100, 60, 30}}, 0.95);
  EXPECT_EQ(check_claim(right, claim(1.0)).outcome, ClaimOutcome::violation);
  EXPECT_EQ(check_claim(right, claim(1.0)).evidence, ClaimEvidence::canaries);
  EXPECT_EQ(check_claim(half, claim(1.0)).outcome, ClaimOutcome::not_refuted);
  EXPECT_EQ(check_claim(half, claim(1.0), true).outcome, ClaimOutcome::wrong_way);
  // Sixty right guesses show 2.97 (Spec §11.4): no more could have been shown.
  EXPECT_EQ(check_claim(half, claim(3.0)).outcome, ClaimOutcome::not_enough_runs);
  EXPECT_NEAR(check_claim(half, claim(3.0)).maximum, 2.9711, 1e-3);
}

TEST(ClaimCheck, TheWorstDecides) {
  const OneRunAudit half({{100, 60, 30}}, 0.95);
  EXPECT_EQ(worst_of({}), Verdict::none);
  const std::vector<ClaimCheck> checks = {check_claim(half, claim(3.0)),
                                          check_claim(half, claim(1.0))};
  EXPECT_EQ(worst_of(checks), Verdict::open);
}

}  // namespace
namespace {

TEST(Guarantee, EitherOrderAndBothNames) {
  const ClaimedGuarantee expected{Epsilon(1.0), Delta(1e-5)};
  for (const char* text : {"eps=1.0,delta=1e-5", "delta=0.00001,eps=1", "epsilon=1,delta=1e-05"}) {
    EXPECT_EQ(parse_guarantee(text), expected) << text;
  }
  EXPECT_EQ(parse_guarantee("eps=0,delta=0"), (ClaimedGuarantee{Epsilon(0.0), Delta(0.0)}));
}

TEST(Guarantee, DeltaMayBeLeftOut) {
  EXPECT_EQ(parse_guarantee("eps=3"), (ClaimedGuarantee{Epsilon(3.0), Delta(1e-5)}));
}

TEST(Guarantee, TextKeepsEveryDigit) {
  for (const double epsilon : {0.1, 1.0 / 3.0, 12345.678}) {
    const ClaimedGuarantee claim{Epsilon(epsilon), Delta(1.0 / 7.0)};
    EXPECT_EQ(parse_guarantee(guarantee_text(claim)), claim);
  }
}

TEST(Guarantee, AnythingElseIsNothing) {
  for (const char* text :
       {"", "delta=1e-5", "eps=1,delta=1", "eps=-1,delta=0", "eps=inf,delta=0", "eps=nan,delta=0",
        "eps=1,delta=nan", "eps=1,eps=2", "eps=1,delta=0,", "eps=1 ,delta=0", "eps=1,delta=0,mu=1",
        "eps=1x,delta=0", "eps=,delta=0", "eps=1;delta=0"}) {
    EXPECT_FALSE(parse_guarantee(text)) << text;
  }
}

}  // namespace
}  // namespace sfumato
