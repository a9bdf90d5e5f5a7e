#include "reproduce/readings/reading.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "reproduce/readings/trained_numbers.hpp"
#include "reproduce/studies.hpp"

namespace sfumato::apps {
namespace {

constexpr PaperTable kTables[] = {PaperTable::table1, PaperTable::table2_s1, PaperTable::table2_s2,
                                  PaperTable::table2_s3, PaperTable::membership};

Study study_of(const ReadingStudy& made) {
  return parse_study(embedded_study(made.study), made.study, made.settings);
}

TEST(Readings, AreStudiesOfTheirOwn) {
  std::set<std::string> texts;
  std::map<std::string, std::string> ledgers;  // and what they hold
  for (const PaperTable table : kTables) {
    for (const TrainedReading& training : declared_trainings(table, RunScale::paper)) {
      for (const ReadingStudy& study :
           studies_of(table, training, noise_readings(), RunScale::paper)) {
        const std::string held = canonical_text(study_of(study));
        EXPECT_EQ(ledgers.try_emplace(study.ledger, held).first->second, held) << study.ledger;
      }
      for (const Reading& reading : readings_of(table, training)) {
        EXPECT_TRUE(texts.insert(std::string(name(table)) + text(reading, table)).second)
            << text(reading, table);
      }
    }
  }
  std::set<std::string> studies;
  for (const auto& [ledger, held] : ledgers) EXPECT_TRUE(studies.insert(held).second) << ledger;
}

TEST(Readings, BeginWithTheLiteralOne) {
  for (const PaperTable table : kTables) {
    EXPECT_EQ(readings_of(table, declared_trainings(table, RunScale::paper).front()).front(),
              Reading{});
  }
  // It is the study of the table, but for what is measured along the way.
  const Study literal = study_of(studies_of(PaperTable::table1, {}, {}, RunScale::paper).front());
  const Study table =
      parse_study(embedded_study("table1_b500"), "table1_b500",
                  {"audit.flatness=false", "train.log_every=0", "data.test_records=1"});
  EXPECT_EQ(canonical_text(literal), canonical_text(table));
}

TEST(Readings, SayWhatIsTrained) {
  const TrainedReading training{PixelScale::unit, WorldCoupling::own_batches, Duration::epochs,
                                "sigmoid", 0.1};
  const auto studies = studies_of(PaperTable::table1, training, {}, RunScale::paper);
  ASSERT_EQ(studies.size(), 2U);
  const Study small = study_of(studies[0]), large = study_of(studies[1]);
  EXPECT_EQ(small.train.iterations, 2000U);  // 1,000 epochs of two batches
  EXPECT_EQ(large.train.iterations, 1000U);
  EXPECT_EQ(small.data.standardise, StandardiseBy::none);
  EXPECT_EQ(small.train.batches, BatchScheme::shuffled_all);
  EXPECT_TRUE(small.audit.share.init && small.audit.share.noise && !small.audit.share.batches);
  EXPECT_EQ(small.model.activation, "sigmoid");
  const Study half = study_of(
      studies_of(PaperTable::table2_s3,
                 {PixelScale::half, WorldCoupling::own_seeds, Duration::printed, "relu", 0.01},
                 noise_readings(), RunScale::paper)
          .front());
  EXPECT_EQ(half.data.constants.means, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_FALSE(half.audit.coupled);
  EXPECT_EQ(half.train.learning_rate, 0.01);
  ASSERT_EQ(half.noise.size(), 9U);  // none, and two policies in four readings
  EXPECT_EQ(half.noise[3].name, "isotropic_per_layer.deviation");
  EXPECT_EQ(half.noise[3].variance, 0.001);
  EXPECT_EQ(half.noise[3].reading, NoiseReading::deviation);
}

TEST(Readings, OfTheStatistic) {
  // p = 0.5, 0.9 and 0.2 on D; 0.5, 0.8 and 0.4 on D'.
  const auto losses = [](std::vector<double> confidences) {
    std::vector<float> losses;
    for (const double p : confidences) losses.push_back(static_cast<float>(-std::log(p)));
    return losses;
  };
  const std::vector<float> with = losses({0.5, 0.9, 0.2}), without = losses({0.5, 0.8, 0.4});
  const auto share = [&](RatioStatistic statistic, double epsilon) {
    return share_above(statistic, with, without, epsilon);
  };
  EXPECT_DOUBLE_EQ(share(RatioStatistic::printed, 0.1), 1.0 / 3);  // ln 9/8 = 0.118
  EXPECT_DOUBLE_EQ(share(RatioStatistic::printed, 0.12), 0.0);
  EXPECT_DOUBLE_EQ(share(RatioStatistic::reversed, 0.6), 1.0 / 3);  // ln 2 = 0.693
  EXPECT_DOUBLE_EQ(share(RatioStatistic::absolute, 0.1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(share(RatioStatistic::decimal, 0.05), 1.0 / 3);  // log10 9/8 = 0.0512
  EXPECT_DOUBLE_EQ(share(RatioStatistic::decimal, 0.06), 0.0);
  EXPECT_DOUBLE_EQ(share(RatioStatistic::difference, 0.09), 1.0 / 3);
  EXPECT_DOUBLE_EQ(share(RatioStatistic::difference, 0.11), 0.0);
}

TEST(Readings, GiveThePrintedNumbersOfTheirTable) {
  TrialNumbers trial;
  trial.shares.assign(5, {0.3, 0.4, 0.5});
  trial.shares[4] = {0.03, 0.04, 0.05};
  trial.mean_loss = 0.2;
  trial.record_loss = 7.0;
  PolicyNumbers none{"none", {{trial, trial}, {trial}}, 0};
  Reading reading;
  reading.statistic = RatioStatistic::difference;
  const auto batches = samples_of(PaperTable::table1, reading, {{none}, {none}}, 1000);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].numbers[2].printed, 0.35);
  EXPECT_EQ(batches[0].trials[0][1], (std::vector<double>{0.03, 0.04, 0.05}));
  EXPECT_EQ(batches[0].trials.size(), 2U);
  std::vector<PolicyNumbers> noises;
  for (const char* policy : {"isotropic_per_layer", "anisotropic"}) {
    noises.push_back({policy_name(policy, NoiseReading::deviation), {{trial}}, 0});
  }
  reading = {};
  reading.noise = NoiseReading::deviation;
  reading.worst = WorstLoss::record;
  const auto noisy = samples_of(PaperTable::table2_s1, reading, {noises}, 1000);
  ASSERT_EQ(noisy.size(), 2U);
  EXPECT_EQ(noisy[0].numbers[0].printed, 0.0015);
  EXPECT_EQ(noisy[1].numbers[1].printed, 0.14);
  EXPECT_EQ(noisy[1].trials[0][0], (std::vector<double>{0.3, 7.0}));
  const auto membership = samples_of(PaperTable::membership, reading, {noises}, 1000);
  EXPECT_EQ(membership[0].numbers.size(), 1U);
  EXPECT_EQ(membership[0].numbers[0].printed, 0.52);
  // Models that all diverged are no sample.
  noises[1].pairs.clear();
  EXPECT_TRUE(samples_of(PaperTable::table2_s1, reading, {noises}, 1000).empty());
}

}  // namespace
}  // namespace sfumato::apps
