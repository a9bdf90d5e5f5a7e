#include "sfumato/audit/score_audit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

ScoreSample perfect(std::size_t size) {
  return {std::vector<double>(size, 1.0), std::vector<double>(size, 0.0)};
}

AuditOptions fixed(std::vector<double> thresholds) {
  AuditOptions options;
  options.strategy = ThresholdStrategy::fixed;
  options.thresholds = std::move(thresholds);
  return options;
}

TEST(ScoreAudit, FixedThresholdIsTheBoundFromCounts) {
  const ScoreSample sample{{0.0, 1.0, 1.0}, {0.0, 0.0, 1.0}};
  const Audit audit = audit_scores(sample, fixed({0.5}));
  const RateBounds rates = rate_bounds({2, 3, 1, 3}, 0.05);
  EXPECT_EQ(audit.epsilon(Delta(0.0)).value.nats(), epsilon_lower(rates, Delta(0.0)));
  EXPECT_EQ(audit.delta(Epsilon(0.0)).value.probability(), delta_lower(rates, Epsilon(0.0)));
  EXPECT_EQ(audit.mu().value, mu_lower(rates));
}

double level_of_first(const Audit& audit) { return audit.events().front().level; }

TEST(ScoreAudit, LevelIsDividedByEverythingThatIsTried) {
  const std::vector<ScoreSample> samples(5, perfect(100));
  EXPECT_NEAR(level_of_first(audit_scores(samples, fixed({0.1, 0.5}))), 0.05 / 10, 1e-15);
  AuditOptions options;
  options.strategy = ThresholdStrategy::ranks;
  EXPECT_NEAR(level_of_first(audit_scores(samples, options)), 0.05 / 40, 1e-15);
  options.strategy = ThresholdStrategy::held_out;
  options.look = 3;
  EXPECT_NEAR(level_of_first(audit_scores(samples, options)), 0.05 / 12 / 5, 1e-15);
  options.look = 1;
  options.more_looks = true;
  EXPECT_NEAR(level_of_first(audit_scores(samples, options)), 0.05 / 2 / 5, 1e-15);
  double spent = 0.0;
  for (std::uint64_t i = 1; i <= 1000; ++i) spent += level_of_look(0.05, i);
  EXPECT_LT(spent, 0.05);
  EXPECT_GT(spent, 0.0499);
}

TEST(ScoreAudit, NoStrategySpendsMoreThanItsLevel) {
  std::vector<ScoreSample> samples(3, perfect(100));
  samples[1] = perfect(7);
  samples[2].with.resize(40);  // worlds and samples of other sizes
  for (const auto strategy : {ThresholdStrategy::combined, ThresholdStrategy::held_out,
                              ThresholdStrategy::ranks, ThresholdStrategy::fixed}) {
    AuditOptions options = fixed({0.5, 0.6, 0.7});
    options.strategy = strategy;
    double spent = 0.0;
    for (const AuditedEvent& event : audit_scores(samples, options).events()) spent += event.level;
    EXPECT_NEAR(spent, 0.05, 1e-15) << name(strategy);
  }
}

TEST(ScoreAudit, HeldOutUsesFreshModelsOnly) {
  AuditOptions options;
  options.strategy = ThresholdStrategy::held_out;
  options.choosing_fraction = 0.5;
  const Audit audit = audit_scores(perfect(100), options);
  ASSERT_EQ(audit.events().size(), 1u);
  EXPECT_EQ(audit.events()[0].counts, (TestCounts{50, 50, 0, 50}));
  EXPECT_NEAR(audit.epsilon(Delta(0.0)).value.nats(), 2.57, 0.005);
  EXPECT_EQ(audit.events()[0].threshold, 0.5);
}

TEST(ScoreAudit, TheDefaultCombinesRanksWithAHeldOutThreshold) {
  const Audit audit = audit_scores(perfect(100), AuditOptions{});
  ASSERT_EQ(audit.events().size(), 9u);
  EXPECT_EQ(audit.events()[0].origin, ThresholdStrategy::ranks);
  EXPECT_NEAR(audit.events()[0].level, 0.04 / 8, 1e-15);
  EXPECT_EQ(audit.events()[8].origin, ThresholdStrategy::held_out);
  EXPECT_EQ(audit.events()[8].counts, (TestCounts{75, 75, 0, 75}));
  EXPECT_NEAR(audit.events()[8].level, 0.01, 1e-15);
  EXPECT_NEAR(audit.epsilon(Delta(0.0)).value.nats(), 2.7847, 0.0001);
  EXPECT_EQ(audit.epsilon(Delta(0.0)).value.nats(), audit.maximum_epsilon(Delta(0.0)));
}

TEST(ScoreAudit, RanksSurviveTiesAndInfinities) {
  AuditOptions ranks;
  ranks.strategy = ThresholdStrategy::ranks;
  const double shown = audit_scores(perfect(100), ranks).epsilon(Delta(0.0)).value.nats();
  EXPECT_NEAR(shown, 2.824, 0.002);
  ScoreSample same{std::vector<double>(50, HUGE_VAL), std::vector<double>(50, HUGE_VAL)};
  EXPECT_EQ(audit_scores(same, ranks).epsilon(Delta(0.0)).value.nats(), 0.0);
  ScoreSample infinite{std::vector<double>(100, HUGE_VAL), std::vector<double>(100, -HUGE_VAL)};
  EXPECT_EQ(audit_scores(infinite, ranks).epsilon(Delta(0.0)).value.nats(), shown);
}

TEST(ScoreAudit, GdpEpsilonFollowsFromMu) {
  const Audit audit = audit_scores(perfect(100), fixed({0.5}));
  EXPECT_NEAR(audit.epsilon_if_gdp(Delta(1e-5)).value.nats(),
              gdp_epsilon(audit.mu().value, Delta(1e-5)).nats(), 1e-6);
  EXPECT_EQ(audit.epsilon_if_gdp(Delta(1e-5)).assumptions.back(), kAssumesGdp);
}

TEST(ScoreAudit, Refusals) {
  EXPECT_THROW((void)audit_scores(std::vector<ScoreSample>{}, AuditOptions{}), InvalidArgument);
  EXPECT_THROW((void)audit_scores({{1.0}, {0.0}}, AuditOptions{}), InvalidArgument);
  EXPECT_THROW((void)audit_scores(perfect(5), fixed({})), InvalidArgument);
  EXPECT_THROW((void)audit_scores(perfect(5), fixed({NAN})), InvalidArgument);
  AuditOptions sure;
  sure.confidence = 1.0;
  EXPECT_THROW((void)audit_scores(perfect(5), sure), InvalidArgument);
  AuditOptions none;
  none.look = 0;
  EXPECT_THROW((void)audit_scores(perfect(5), none), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
