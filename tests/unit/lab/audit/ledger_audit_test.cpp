#include "sfumato/lab/audit/ledger_audit.hpp"

#include <gtest/gtest.h>

#include "lab/study/trial_runner.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kQuadratic = R"([model]
kind = "quadratic"
curvature = [2, 1]
minimiser = [1, -1]
other_minimiser = [1.25, -1.1]
[train]
iterations = 20
learning_rate = 0.2
[[noise]]
policy = "isotropic"
name = "little"
variance = 0.01
[[noise]]
policy = "isotropic"
name = "much"
variance = 100.0
[audit]
replicas = 100
epsilons = [0.5]
delta = 1e-4
confidence = 0.9
claims = ["eps=0.1,delta=0.01"]
)";

/// The ledger of a study, all of whose models are trained but for the groups from `end` on.
class LedgerAuditTest : public testing::Test {
 protected:
  std::string trained(const std::string& text, std::size_t end = SIZE_MAX) {
    const TrialRunner runner(parse_study(text, "s.toml"));
    Observer observer;
    const std::string path = dir_ / "a.ledger";
    Ledger ledger = Ledger::open(path, runner.identity(), study_differences);
    for (std::size_t g = 0; g < std::min(end, runner.groups()); ++g) {
      ledger.commit(runner.run(g, observer));
    }
    return path;
  }
  TempDir dir_;
};

TEST_F(LedgerAuditTest, UsesWhatTheStudyAsksFor) {
  const LedgerAudit found = audit(Ledger::read(trained(kQuadratic)), {});
  EXPECT_EQ(found.deltas, std::vector{1e-4});
  EXPECT_EQ(found.epsilons, std::vector{0.5});
  EXPECT_EQ(found.options.confidence, 0.9);
  EXPECT_EQ(found.options.audits, 2U);
  EXPECT_EQ(found.options.delta, Delta(0.01));  // thresholds are chosen for the claim
  EXPECT_EQ(found.score, "likelihood_ratio");
  EXPECT_EQ(found.access, ScoreAccess::distribution);
  EXPECT_FALSE(found.fallback);
  ASSERT_EQ(found.policies.size(), 2U);
  EXPECT_EQ(found.policies[1].policy, "much");
}

TEST_F(LedgerAuditTest, TheWorstPolicyDecides) {
  const LedgerAudit found = audit(Ledger::read(trained(kQuadratic)), {});
  EXPECT_EQ(found.policies[0].verdict, Verdict::violated);
  EXPECT_EQ(found.policies[1].verdict, Verdict::not_refuted);
  EXPECT_EQ(found.verdict, Verdict::violated);
  const ClaimCheck& check = found.policies[0].claims.at(0);
  EXPECT_EQ(check.claim, (ClaimedGuarantee{Epsilon(0.1), Delta(0.01)}));
  EXPECT_EQ(check.found.value, found.policies[0].epsilon(Delta(0.01))->value);
  EXPECT_EQ(check.maximum, found.policies[0].maximum(Delta(0.01)));
}

TEST_F(LedgerAuditTest, AControlDecidesNothingAndComesLast) {
  std::string text = kQuadratic;
  text.insert(text.find("variance = 0.01"), "control = true\n");
  LedgerAudit found = audit(Ledger::read(trained(text)), {});
  ASSERT_EQ(found.policies.size(), 2U);
  EXPECT_EQ(found.policies[0].policy, "much");
  EXPECT_FALSE(found.policies[0].control);
  EXPECT_EQ(found.policies[1].policy, "little");
  EXPECT_TRUE(found.policies[1].control);
  EXPECT_EQ(found.policies[1].verdict, Verdict::none);
  EXPECT_EQ(found.policies[1].claims.at(0).outcome, ClaimOutcome::violation);
  EXPECT_TRUE(found.policies[1].attack_works(Delta(1e-4)));
  EXPECT_FALSE(found.policies[0].attack_works(Delta(1e-4)));
  EXPECT_EQ(found.verdict, Verdict::not_refuted);
  EXPECT_EQ(found.options.audits, 2U);  // what the control shows is shown at its share of the level

  LedgerAuditOptions alone;
  alone.policy = "little";
  EXPECT_EQ(audit(Ledger::read(dir_ / "a.ledger"), alone).verdict, Verdict::none);
  // The smallest claim would be refuted there, the larger one not.
  alone.claim = ClaimedGuarantee{Epsilon(2.9), Delta(1e-5)};
  found = audit(Ledger::read(dir_ / "a.ledger"), alone);
  EXPECT_FALSE(found.policies[0].attack_works(Delta(1e-4)));
}

TEST_F(LedgerAuditTest, OptionsComeBeforeTheStudy) {
  LedgerAuditOptions options;
  options.policy = "much";
  options.score = "loss";
  options.deltas = {1e-3, 1e-3, 0.0};
  options.epsilons = {1.0};
  options.confidence = 0.99;
  options.claim = ClaimedGuarantee{Epsilon(100.0), Delta(1e-5)};
  const LedgerAudit found = audit(Ledger::read(trained(kQuadratic)), options);
  EXPECT_EQ(found.deltas, (std::vector{1e-3, 0.0}));
  EXPECT_EQ(found.epsilons, std::vector{1.0});
  EXPECT_EQ(found.options.confidence, 0.99);
  EXPECT_EQ(found.options.audits, 1U);
  ASSERT_EQ(found.policies.size(), 1U);
  EXPECT_EQ(found.verdict, Verdict::open);  // no hundred models show 100
}

TEST_F(LedgerAuditTest, AContradictedProofIsAViolationWithoutAnyClaim) {
  // Models of little noise in the ledger of a study that says there is much.
  const std::string study =
      "[model]\nkind = \"quadratic\"\ncurvature = [1]\nminimiser = [0]\n"
      "other_minimiser = [1]\n[train]\niterations = 5\nlearning_rate = 0.5\n"
      "[[noise]]\npolicy = \"isotropic\"\nvariance = 1.0\n[audit]\n"
      "replicas = 100\n";
  const TrialRunner says(parse_study(study, "s.toml"));
  const TrialRunner does(parse_study(study, "s.toml", {"noise.0.variance=1e-4"}));
  Observer observer;
  const std::string path = dir_ / "b.ledger";
  {
    Ledger ledger = Ledger::open(path, says.identity(), study_differences);
    for (std::size_t g = 0; g < does.groups(); ++g) ledger.commit(does.run(g, observer));
  }
  const LedgerAudit found = audit(Ledger::read(path), {});
  EXPECT_TRUE(found.policies.front().claims.empty());
  EXPECT_EQ(found.verdict, Verdict::violated);
}

TEST_F(LedgerAuditTest, LooksAreCountedAndRecorded) {
  const std::string path = trained(kQuadratic, 60);
  const LedgerAudit early = audit(Ledger::read(path), {});
  EXPECT_EQ(early.trials, 120U);
  EXPECT_EQ(early.planned, 200U);
  EXPECT_EQ(early.look.number, 1U);
  EXPECT_TRUE(early.options.more_looks);
  EXPECT_EQ(Ledger::read(path).looks().at(1), 120U);
  LedgerAuditOptions later;
  later.look = 3;
  EXPECT_EQ(audit(Ledger::read(path), later).options.look, 3U);
}

TEST_F(LedgerAuditTest, RefusesWhatTheLedgerHasNot) {
  const Ledger ledger = Ledger::read(trained(kQuadratic));
  const auto refused = [&](const LedgerAuditOptions& options) {
    try {
      (void)audit(ledger, options);
    } catch (const InvalidArgument& error) {
      return error.where().is_key() ? error.where().text() : "no key";
    }
    return std::string("not refused");
  };
  LedgerAuditOptions options;
  options.policy = "litle";
  EXPECT_EQ(refused(options), "policy");
  options = {};
  options.score = "margin";
  EXPECT_EQ(refused(options), "score");
  options = {};
  options.guesses = 3;
  EXPECT_EQ(refused(options), "guesses");
  options = {};
  options.look = 0;
  EXPECT_EQ(refused(options), "look");
  options = {};
  options.confidence = 1.0;
  EXPECT_EQ(refused(options), "confidence");
  options = {};
  options.thresholds = {1.0};
  EXPECT_EQ(refused(options), "threshold");
}

TEST_F(LedgerAuditTest, WithoutTheDefaultScoreItIsTheLoss) {
  std::string text = kQuadratic;
  const std::string much = "policy = \"isotropic\"\nname = \"much\"\nvariance = 100.0";
  text.replace(text.find(much), much.size(), "policy = \"none\"");
  const LedgerAudit found = audit(Ledger::read(trained(text)), {});
  EXPECT_EQ(found.score, "loss");
  ASSERT_TRUE(found.fallback);
  EXPECT_EQ(found.fallback->policy, "none");
  EXPECT_EQ(found.fallback->wanted, "likelihood_ratio");
}

}  // namespace
}  // namespace sfumato::lab
