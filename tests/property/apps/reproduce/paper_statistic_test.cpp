#include "reproduce/paper_statistic.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "lab/study/scheduler/run_study.hpp"
#include "lab/study/trial_runner.hpp"
#include "reproduce/confidences.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::apps {
namespace {

// Steps so short that no weight moves: initial weights and noise, no data. Two models of independent worlds
// differ, as any two do, and the statistic takes that for a leak (Spec §11.1).
TEST(PaperStatisticProperty, ItIsLargeForATrainerThatIgnoresItsData) {
  TempDir dir;
  std::mt19937_64 engine(20230809);
  std::normal_distribution<double> normal;
  std::string table;
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 40; ++j) table += std::to_string(normal(engine)) + ",";
    table += std::to_string(engine() % 2) + "\n";
  }
  put(dir / "t.csv", table);
  const TrialRunner runner(parse_study(
      "[data]\nset = \"" + (dir / "t.csv") +
          "\"\nrecords = 24\n[[model.layers]]\ntype = \"linear\"\noutputs = 2\n[train]\n"
          "iterations = 40\nbatch_size = 8\nlearning_rate = 1e-30\n[[noise]]\n"
          "policy = \"isotropic\"\nvariance = 0.01\n[audit]\ncoupled = false\nreplicas = 20\n",
      "s.toml"));
  Ledger ledger = Ledger::open(dir / "a.ledger", runner.identity(), study_differences);
  Observer observer;
  (void)run_study(runner, ledger, 1, observer);
  const auto confidences = confidences_by_policy(ledger, runner.study());
  ASSERT_EQ(confidences.size(), 1U);
  ASSERT_EQ(confidences[0].size(), 1U);
  EXPECT_EQ(confidences[0][0].with.rows(), 20);
  EXPECT_EQ(confidences[0][0].with.cols(), 24);
  EXPECT_GT(paper_statistic(confidences[0], Epsilon(0.1)).maximum.value, 0.3);
}

}  // namespace
}  // namespace sfumato::apps
