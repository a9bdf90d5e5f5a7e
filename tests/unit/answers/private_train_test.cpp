#include <gtest/gtest.h>

#include <filesystem>

#include "sfumato/answers/train/private_answer.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/nn/initialise.hpp"
#include "sfumato/report/text.hpp"
#include "sfumato/study/input_metric.hpp"
#include "sfumato/study/material.hpp"
#include "sfumato/study/training_guarantee.hpp"
#include "unit/study/small_study.hpp"

namespace sfumato {
namespace {

class PrivateTrain : public testing::Test {
 protected:
  PrivateTrain() {
    put(small.dir / "p.toml", R"([data]
set = "t.csv"
records = 20
test = "t.csv"
[[model.layers]]
type = "linear"
outputs = 5
[[model.layers]]
type = "tanh"
[[model.layers]]
type = "linear"
outputs = 3
[train]
sampler = "poisson"
batch_size = 5
iterations = 30
learning_rate = 0.1
clip = 0.5
)");
  }
  [[nodiscard]] PrivateTrainQuestion question() const {
    PrivateTrainQuestion asked;
    asked.study = small.dir / "p.toml";
    asked.target_epsilon = 3.0;
    return asked;
  }

  SmallStudy small;
  Observer observer;
};

TEST_F(PrivateTrain, MeetsItsTargetWithNoiseOfTheSystem) {
  const PrivateTrainAnswer found = answer(question(), observer);
  EXPECT_TRUE(found.finished && found.secret && found.calibrated);
  EXPECT_LE(found.guarantee.epsilon().nats(), 3.0);
  EXPECT_GT(found.guarantee.epsilon().nats(), 2.999);
  ASSERT_TRUE(found.test);
  // Two releases are never the same.
  EXPECT_NE(answer(question(), observer).parameters, found.parameters);
  const std::string text = render_text(document_of(found, Detail::full), {100, false});
  EXPECT_NE(text.find("test accuracy"), std::string::npos) << text;
  EXPECT_EQ(text.find("experiment"), std::string::npos);
}

TEST_F(PrivateTrain, ASeedIsAnExperiment) {
  PrivateTrainQuestion asked = question();
  asked.seed = 7;
  const PrivateTrainAnswer first = answer(asked, observer), second = answer(asked, observer);
  EXPECT_FALSE(first.secret);
  EXPECT_EQ(first.parameters, second.parameters);
  const std::string text = render_text(document_of(first, Detail::brief), {100, false});
  EXPECT_NE(text.find("no guarantee"), std::string::npos) << text;
}

TEST_F(PrivateTrain, TheInputMetricSharesTheBudget) {
  PrivateTrainQuestion asked = question();
  put(small.dir / "p.toml",
      get(small.dir / "p.toml") + "[[noise]]\npolicy = \"private\"\nmetric = \"input\"\n");
  asked.seed = 1;
  const PrivateTrainAnswer found = answer(asked, observer);
  ASSERT_TRUE(found.input_metric);
  EXPECT_LE(found.guarantee.epsilon().nats(), 3.0);
  EXPECT_EQ(found.guarantee.releases().list.size(), 2U);
  asked.target_epsilon.reset();
  asked.settings = {"noise.0.noise_multiplier=1.0"};
  EXPECT_THROW((void)answer(asked, observer), InvalidArgument);
  // Both multipliers may also be given, and both releases are counted.
  asked.settings = {"noise.0.noise_multiplier=1.0", "noise.0.metric_mu=0.5"};
  const PrivateTrainAnswer given = answer(asked, observer);
  EXPECT_EQ(given.guarantee.releases().list.size(), 2U);
  EXPECT_EQ(
      std::get<GaussianNoise>(given.guarantee.releases().list[0].mechanism).noise_multiplier,
      std::get<GaussianNoise>(release_of_moments(0.5, NeighbouringRelation::zero_out).mechanism)
          .noise_multiplier);
}

TEST_F(PrivateTrain, HardenedNoiseHasTheSameGuaranteeAndSaysWhatItProtects) {
  for (const std::string metric : {"isotropic", "per_layer", "released", "input"}) {
    PrivateTrainQuestion asked = question();
    asked.settings = {"noise=[{policy=\"private\",metric=\"" + metric + "\",clip=0.5}]",
                      "train.iterations=5"};
    const PrivateTrainAnswer plain = answer(asked, observer);
    asked.hardened = true;
    const PrivateTrainAnswer exact = answer(asked, observer);
    EXPECT_EQ(exact.guarantee.epsilon(), plain.guarantee.epsilon()) << metric;
    EXPECT_TRUE(exact.secret && exact.finished && !exact.diverged) << metric;
    const std::string text = render_text(document_of(exact, Detail::full), {100, false});
    EXPECT_NE(text.find("exact, on a grid"), std::string::npos) << text;
    EXPECT_EQ(text.find("low bits, the order of sums"), std::string::npos) << text;
    EXPECT_NE(text.find("How long steps take is not protected"), std::string::npos) << text;
    asked.seed = 4;  // an experiment can be repeated, exactly
    EXPECT_EQ(answer(asked, observer).parameters, answer(asked, observer).parameters);
  }
}

TEST_F(PrivateTrain, WhatWasReleasedBeforeCounts) {
  PrivateTrainQuestion asked = question();
  asked.out = small.dir / "first";
  (void)answer(asked, observer);
  const std::string account = small.dir / "first/accounting.toml";
  asked.out.clear();
  asked.after = account;
  const std::string spent = message_of<InvalidArgument>([&] {
    PrivateTrainQuestion less = asked;
    less.target_epsilon = 1.0;
    (void)answer(less, observer);
  });
  EXPECT_NE(spent.find("budget is spent"), std::string::npos) << spent;
  EXPECT_NE(spent.find("epsilon 3"), std::string::npos) << spent;
  asked.target_epsilon = 4.0;
  const PrivateTrainAnswer second = answer(asked, observer);
  EXPECT_LE(second.guarantee.epsilon().nats(), 4.0);
  EXPECT_EQ(second.guarantee.releases().list.size(), 2U);
  PrivateTrainQuestion alone = question();
  alone.target_epsilon = 4.0;
  EXPECT_GT(second.policy.noise_multiplier, answer(alone, observer).policy.noise_multiplier);
}

TEST_F(PrivateTrain, WhitenedInputsAndUnwhitenedWeightsAreTheSameModel) {
  const Study study = read_study(small.dir / "p.toml");
  const StudySets sets = load_sets(study);
  const Network network = network_of(study.model, sets.train);
  ReleaseBits bits(ReleaseKey::from_seed(1));
  NoisePolicy policy;
  policy.metric_mu = 0.5;
  policy.input_bound = 10.0;
  const InputMetric metric =
      release_input_metric(network, sets.train, random_slots(sets.train, 20, 1), {}, policy,
                           NeighbouringRelation::zero_out, NoiseMode::gaussian, bits, observer);
  const LabelledSet white = whitened(sets.train, metric);
  Training train;
  train.batch_size = 5;
  NoisePolicy none;
  none.name = "none";
  const auto losses = [&](const LabelledSet& set, const std::vector<float>& parameters) {
    TrialGroup group(
        network,
        std::make_shared<const TrainingData>(set, random_slots(set, 20, 1), std::vector{World{}}),
        {none}, train);
    GroupState state = group.state();
    state.parameters = {parameters};
    group.restore(state);
    std::vector<std::uint32_t> records(set.count());
    for (std::uint32_t r = 0; r < records.size(); ++r) records[r] = r;
    return group.evaluate(RecordStore(set, records), set.labels).losses[0];
  };
  const std::vector<float> start = initial_parameters(network, 3);
  const std::vector<float> inside = losses(white, start),
                           outside = losses(sets.train, unwhitened(network, start, metric));
  for (std::size_t r = 0; r < inside.size(); ++r) EXPECT_NEAR(inside[r], outside[r], 1e-4F);
}

TEST_F(PrivateTrain, Refusals) {
  const auto refused = [&](const PrivateTrainQuestion& asked, const std::string& says) {
    const std::string message = message_of<InvalidArgument>([&] { (void)answer(asked, observer); });
    EXPECT_NE(message.find(says), std::string::npos) << message;
  };
  PrivateTrainQuestion asked = question();
  asked.target_epsilon.reset();
  refused(asked, "how much noise");
  asked = question();
  asked.settings = {"train.noise_multiplier=1.0"};
  refused(asked, "both target_epsilon and noise_multiplier");
  asked = question();
  asked.settings = {"train.sampler=with_replacement"};
  refused(asked, "with replacement");
  asked = question();
  asked.study = small.dir / "s.toml";
  refused(asked, "one noise policy, which is private");
  asked = question();
  asked.out = small.dir / "out";
  (void)answer(asked, observer);
  EXPECT_TRUE(std::filesystem::exists(small.dir / "out/model.npz"));
  EXPECT_THROW((void)answer(asked, observer), StorageError);
}

}  // namespace
}  // namespace sfumato
