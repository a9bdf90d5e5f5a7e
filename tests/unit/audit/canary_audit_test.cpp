#include "sfumato/audit/canary_audit.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Forty canaries, of which the first `right` score as their coins say, the others the other way round.
CanaryScores canaries(std::size_t right) {
  CanaryScores model;
  for (std::size_t i = 0; i < 40; ++i) {
    const bool in = i % 2 == 0;
    model.included.push_back(in ? 1 : 0);
    model.scores.push_back((in == (i < right) ? 100.0 : 0.0) + static_cast<double>(i));
  }
  return model;
}

TEST(CanaryAudit, ByCoin) {
  const ScoreSample sample = by_coin({{1.0, 2.0, 3.0}, {1, 0, 1}});
  EXPECT_EQ(sample.with, (std::vector{1.0, 3.0}));
  EXPECT_EQ(sample.without, (std::vector{2.0}));
  EXPECT_FALSE(have_ties({{1.0, 2.0}, {1, 0}}));
  EXPECT_TRUE(have_ties({{2.0, 1.0, 2.0}, {1, 0, 0}}));
}

TEST(CanaryAudit, GuessesAreSettledOrGiven) {
  EXPECT_GT(one_run_audit(canaries(40), {}).guesses().size(), 1U);
  const OneRunAudit given = one_run_audit(canaries(40), {0.05, 10, 0});
  ASSERT_EQ(given.guesses().size(), 1U);
  EXPECT_EQ(given.guesses().front().guesses, 10U);
  EXPECT_NEAR(given.level(), 0.05, 1e-15);
}

TEST(CanaryAudit, ReplicasShareTheLevelThatWasPlanned) {
  const std::vector<CanaryScores> models = {canaries(40), canaries(30)};
  const CanaryOptions options{0.06, 20, 0};
  const std::vector<OneRunAudit> audits = audit_replicas(models, 3, options);
  ASSERT_EQ(audits.size(), 2U);
  EXPECT_NEAR(audits.front().level(), 0.02, 1e-15);  // a third: the third model was planned, too
  EXPECT_LT(audits.front().epsilon(Delta(0.0)).value,
            one_run_audit(canaries(40), options).epsilon(Delta(0.0)).value);
  EXPECT_THROW((void)audit_replicas(models, 1, options), InvalidArgument);
}

TEST(CanaryAudit, TheBestReplicaIsTheOneThatShowsMost) {
  const std::vector<CanaryScores> models = {canaries(30), canaries(40), canaries(35)};
  const std::vector<OneRunAudit> audits = audit_replicas(models, 3, {0.05, 40, 0});
  EXPECT_EQ(&best_replica(audits, Delta(1e-5)), &audits[1]);
  EXPECT_THROW((void)best_replica({}, Delta(0.0)), InternalError);
}

}  // namespace
}  // namespace sfumato
