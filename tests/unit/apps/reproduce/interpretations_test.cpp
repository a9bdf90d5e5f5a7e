#include "reproduce/interpretations.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/printed_numbers.hpp"

namespace sfumato::apps {
namespace {

Study study(const std::string& name) { return parse_study(embedded_study(name), name); }

double variance_of(const NoiseSpec& noise) {
  const ScaledNoise* scale = scaled_noise(noise.rule);
  return scale == nullptr ? 0.0 : scale->variance;
}

NoiseInterpretation interpretation_of(const std::string& name, std::size_t policy) {
  return scaled_noise(study(name).noise[policy].rule)->interpretation;
}

TEST(ClosestInterpretations, HaveFreshRecordsAndAsManyModelsAsTheLiteralOnes) {
  for (const char* name :
       {"table1_b500", "table1_b1000", "table2_s1", "table2_s2", "table2_s3", "membership"}) {
    const Study literal = study(name), closest = study(std::string(name) + "_closest");
    EXPECT_EQ(closest.data.seed, 202U) << name;  // 101 chose, 0 is the literal one
    EXPECT_EQ(closest.train.seed, 202U) << name;
    EXPECT_EQ(closest.data.standardise, StandardiseBy::none) << name;
    EXPECT_EQ(closest.data.records, literal.data.records) << name;
    EXPECT_EQ(closest.train.batch_size, literal.train.batch_size) << name;
    EXPECT_EQ(closest.model.preset, literal.model.preset) << name;
    EXPECT_EQ(closest.audit.pairs, literal.audit.pairs) << name;
    EXPECT_EQ(closest.audit.replicas, literal.audit.replicas) << name;
    ASSERT_EQ(closest.noise.size(), literal.noise.size()) << name;
    for (std::size_t p = 0; p < literal.noise.size(); ++p) {
      EXPECT_EQ(closest.noise[p].name, literal.noise[p].name) << name;
      EXPECT_EQ(variance_of(closest.noise[p]), variance_of(literal.noise[p])) << name;
    }
  }
}

TEST(ClosestInterpretations, DecideWhatThePaperLeavesOpen) {
  for (const PrintedBatch& batch : kTable1) {
    const Study closest = study(std::string(batch.study) + "_closest");
    EXPECT_EQ(closest.train.iterations, 1000U);
    EXPECT_EQ(closest.train.batches, BatchScheme::shuffled_all);
    EXPECT_TRUE(closest.audit.share.init && closest.audit.share.noise &&
                !closest.audit.share.batches);
    // log10 p/p' > eps is ln p/p' > eps ln 10.
    ASSERT_EQ(closest.audit.epsilons.size(), kTable1Epsilons.size());
    for (std::size_t e = 0; e < kTable1Epsilons.size(); ++e) {
      EXPECT_DOUBLE_EQ(closest.audit.epsilons[e], kTable1Epsilons[e] * std::log(10.0));
    }
  }
  EXPECT_EQ(study("table2_s1_closest").model.activation, "sigmoid");
  EXPECT_EQ(interpretation_of("table2_s1_closest", 0), NoiseInterpretation::deviation);
  EXPECT_EQ(interpretation_of("table2_s2_closest", 1),
            NoiseInterpretation::times_root_learning_rate);
  EXPECT_EQ(study("table2_s3_closest").train.learning_rate, 0.01);
  EXPECT_EQ(interpretation_of("table2_s3_closest", 1),
            NoiseInterpretation::times_root_learning_rate);
  EXPECT_EQ(interpretation_of("membership_closest", 0), NoiseInterpretation::deviation);
}

TEST(ComparedTable, HasModelsThatDivergedByName) {
  const TrainedNumber number{{0.25, Claim::estimate, "by hand"}, "0.2 .. 0.3"};
  const Table table = compared_table("key", "title", {{"isotropic", "delta", 0.1, {}, number}});
  ASSERT_EQ(table.rows().size(), 1U);
  const std::vector<Cell>& row = table.rows().front();
  ASSERT_EQ(row.size(), 7U);
  EXPECT_TRUE(std::holds_alternative<Empty>(row[3].content()));
  EXPECT_EQ(std::get<std::string>(row[6].content()), "0.2 .. 0.3");
}

}  // namespace
}  // namespace sfumato::apps
