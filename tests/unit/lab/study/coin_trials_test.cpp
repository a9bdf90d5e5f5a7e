#include "lab/study/coin_trials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lab/study/trial_runner.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

/// Random records with random labels: whoever knows a label was trained on it.
class CoinTrialsOnTable : public ::testing::Test {
 protected:
  CoinTrialsOnTable() {
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    std::string text;
    for (int i = 0; i < 60; ++i) {
      for (int j = 0; j < 80; ++j) text += std::to_string(normal(engine)) + ",";
      text += std::to_string(engine() % 2) + "\n";
    }
    put(path_, text);
  }
  [[nodiscard]] Study study(const std::string& audit) const {
    return parse_study("[data]\nset = \"" + path_ +
                           "\"\nrecords = 50\n[[model.layers]]\ntype = \"linear\"\noutputs = 2\n"
                           "[train]\niterations = 300\nbatch_size = 10\nlearning_rate = 0.3\n"
                           "[[noise]]\npolicy = \"none\"\n[[noise]]\npolicy = \"isotropic\"\n"
                           "variance = 1e-4\n[audit]\n" +
                           audit,
                       "s.toml");
  }
  /// Trains everything into a ledger and reads it again.
  [[nodiscard]] std::vector<CoinTrials> trained(const Study& s) const {
    const TrialRunner runner(s);
    Observer observer;
    const std::string path = dir_ / "l";
    {
      Ledger ledger = Ledger::open(path, runner.identity(), study_differences);
      for (std::size_t g = 0; g < runner.groups(); ++g) ledger.commit(runner.run(g, observer));
    }
    return coin_trials(Ledger::read(path), s);
  }
  TempDir dir_;
  std::string path_ = dir_ / "t.csv";
};

TEST_F(CoinTrialsOnTable, CanariesAreInOrOutAndShowIt) {
  const Study s = study("canaries = 20\nreplicas = 6\n");
  const std::vector<CoinTrials> policies = trained(s);
  ASSERT_EQ(policies.size(), 2U);
  ASSERT_EQ(policies[0].runs.size(), 6U);
  int in = 0;
  double with = 0.0, without = 0.0;
  for (std::size_t r = 0; r < 6; ++r) {
    const CoinRun& run = policies[0].runs[r];
    ASSERT_EQ(run.scores.size(), 20U);
    EXPECT_EQ(run.included, policies[1].runs[r].included);  // one world for all policies
    for (std::size_t i = 0; i < 20; ++i) {
      in += run.included[i];
      (run.included[i] != 0 ? with : without) += run.scores[i];
    }
  }
  EXPECT_NE(policies[0].runs[0].included, policies[0].runs[1].included);
  EXPECT_GT(in, 33);  // 120 fair coins: outside with probability 1e-6
  EXPECT_LT(in, 87);
  // A linear model of 81 parameters learns 50 random labels by heart.
  EXPECT_GT(with / in, 2.0);
  EXPECT_LT(without / (120 - in), 1.5);
}

TEST_F(CoinTrialsOnTable, ATrialIsAFunctionOfItsKey) {
  Observer observer;
  const TrialRunner a(study("canaries = 20\nreplicas = 6\n")),
      b(study("canaries = 20\nreplicas = 6\n"));
  EXPECT_EQ(a.run(3, observer)[1].worlds.front().series,
            b.run(3, observer)[1].worlds.front().series);
  EXPECT_EQ(a.run(3, observer).front().worlds.size(), 1U);
}

TEST_F(CoinTrialsOnTable, ShadowModelsAreLirasLayout) {
  const Study s = study("shadow_models = 8\n");
  EXPECT_EQ(s.audit.replicas, 8U);
  EXPECT_EQ(canonical_text(parse_study(canonical_text(s), "c.toml")), canonical_text(s));
  const ShadowScores shadows = shadow_scores(trained(s)[0]);
  EXPECT_EQ(shadows.logits.rows(), 8);
  EXPECT_EQ(shadows.logits.cols(), 50);
  EXPECT_TRUE(shadows.logits.allFinite());
  const ScoreSample sample = by_membership(shadows.logits, shadows.member);
  EXPECT_GT(sample.with.size(), 140U);
  EXPECT_GT(sample.without.size(), 140U);
  CoinTrials one;
  one.runs.resize(1);
  EXPECT_THROW((void)shadow_scores(one), InvalidArgument);
}

TEST_F(CoinTrialsOnTable, RefusesWhatDoesNotGoTogether) {
  const auto refusal = [&](const std::string& audit) {
    return message_of<InvalidArgument>([&] { (void)study(audit); });
  };
  EXPECT_NE(refusal("canaries = 3\nshadow_models = 4\n").find("shadow_models"), std::string::npos);
  EXPECT_NE(refusal("canaries = 3\npairs = 2\n").find("several pairs"), std::string::npos);
  EXPECT_NE(refusal("shadow_models = 3\nreplicas = 2\n").find("replicas"), std::string::npos);
  EXPECT_THROW(TrialRunner(study("canaries = 50\n")), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
