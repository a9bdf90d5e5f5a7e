#include "lab/train/private_answer.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lab/nn/network.hpp"
#include "lab/study/layer_metrics.hpp"
#include "lab/study/study_data.hpp"
#include "lab/study/training_guarantee.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"
#include "sfumato/report/text.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

class PrivateTrain : public testing::Test {
 protected:
  PrivateTrain() {
    put(small.dir / "p.toml", std::string(R"([data]
set = "t.csv"
records = 20
classes = 3
test = "t.csv"
)") + SmallStudy::kLayers + R"([train]
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

/// Losses of all records of a set under given parameters.
std::vector<float> losses(const Network& network, const LabelledSet& set,
                          const std::vector<float>& parameters) {
  Training train;
  train.batch_size = 5;
  NoisePolicy none;
  none.name = "none";
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
}

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

/// How often a text is one of the statements of a kind.
std::size_t stated(const Document& document, StatementKind kind, const std::string& words) {
  return static_cast<std::size_t>(
      std::count_if(document.blocks().begin(), document.blocks().end(), [&](const Block& block) {
        const auto* statement = std::get_if<Statement>(&block);
        return statement != nullptr && statement->kind == kind &&
               statement->plain().find(words) != std::string::npos;
      }));
}

TEST_F(PrivateTrain, ThePageSaysFirstWhetherItMayBePublished) {
  const Document released = document_of(answer(question(), observer), Detail::full);
  ASSERT_TRUE(released.abstract());
  EXPECT_NE(
      released.abstract()->answer.plain().find("Yes: it is differentially private, epsilon <= 3"),
      std::string::npos)
      << released.abstract()->answer.plain();
  EXPECT_NE(released.abstract()->cost.plain().find("Test accuracy = "), std::string::npos);
  // The statement for a model card: what it rests on is a list of assumptions, every other list one sentence.
  EXPECT_EQ(stated(released, StatementKind::assumption, "Poisson") +
                stated(released, StatementKind::assumption, "samples every record independently"),
            1U);
  EXPECT_EQ(stated(released, StatementKind::info, "It rests on"), 0U);
  EXPECT_EQ(stated(released, StatementKind::info, "What was released: Gaussian noise"), 1U);
  EXPECT_EQ(stated(released, StatementKind::info, "Not covered:"), 1U);

  PrivateTrainQuestion asked = question();
  asked.seed = 7;
  const Document seeded = document_of(answer(asked, observer), Detail::full);
  ASSERT_TRUE(seeded.abstract());
  EXPECT_TRUE(seeded.abstract()->answer.plain().starts_with("No: "))
      << seeded.abstract()->answer.plain();

  asked = question();
  asked.settings = {"train.learning_rate=3e38"};
  const PrivateTrainAnswer far_off = answer(asked, observer);
  ASSERT_TRUE(far_off.diverged);
  EXPECT_EQ(document_of(far_off, Detail::full).abstract()->answer.plain().find("Yes"),
            std::string::npos);
}

TEST_F(PrivateTrain, ASeedIsAnExperiment) {
  PrivateTrainQuestion asked = question();
  asked.seed = 7;
  const PrivateTrainAnswer first = answer(asked, observer), second = answer(asked, observer);
  EXPECT_FALSE(first.secret);
  EXPECT_EQ(first.parameters, second.parameters);
  // It is for initial weights too, whatever the study says; a released model has those of train.seed, which are public.
  asked.settings = {"train.learning_rate=1e-30"};
  const PrivateTrainAnswer still = answer(asked, observer);
  EXPECT_EQ(still.parameters, initial_parameters(still.network, 7));
  asked.settings.emplace_back("train.seed=3");
  EXPECT_EQ(answer(asked, observer).parameters, still.parameters);
  asked.seed.reset();
  EXPECT_EQ(answer(asked, observer).parameters, initial_parameters(still.network, 3));
  const std::string text = render_text(document_of(first, Detail::brief), {100, false});
  EXPECT_NE(text.find("no guarantee"), std::string::npos) << text;
}

TEST_F(PrivateTrain, TheInputMetricSharesTheBudget) {
  PrivateTrainQuestion asked = question();
  put(small.dir / "p.toml",
      get(small.dir / "p.toml") + "[[noise]]\npolicy = \"private\"\nmetric = \"input\"\n");
  asked.seed = 1;
  const PrivateTrainAnswer found = answer(asked, observer);
  ASSERT_EQ(found.input_metrics.size(), 1U);
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

TEST_F(PrivateTrain, TheMetricOfEveryLayerCostsWhatThatOfTheFirstCosts) {
  PrivateTrainQuestion asked = question();
  asked.settings = {"noise=[{policy=\"private\",metric=\"input\",clip=0.5}]"};
  asked.seed = 1;
  const PrivateTrainAnswer first = answer(asked, observer);
  asked.metric_layers = MetricLayers::all;
  const PrivateTrainAnswer all = answer(asked, observer);
  EXPECT_EQ(all.guarantee.epsilon(), first.guarantee.epsilon());
  EXPECT_EQ(all.policy.private_noise().noise_multiplier,
            first.policy.private_noise().noise_multiplier);
  EXPECT_NE(all.parameters, first.parameters);
  ASSERT_EQ(all.input_metrics.size(), 2U);
  EXPECT_LE(std::hypot(all.input_metrics[0].mu, all.input_metrics[1].mu),
            first.policy.metric<InputMomentsMetric>()->mu);
  // Weights on the inputs as they are: what the page says of test records holds for them.
  const LabelledSet& records = load_sets(all.study).train;
  const std::vector<float> found = losses(all.network, records, all.parameters);
  double mean = 0.0;
  for (const float loss : found)
    mean += static_cast<double>(loss) / static_cast<double>(found.size());
  EXPECT_NEAR(mean, all.test->mean_loss, 1e-4);
  const std::string text = render_text(document_of(all, Detail::full), {400, false});
  EXPECT_NE(text.find("every layer's inputs, at the initial weights"), std::string::npos) << text;
  // By the study as well; and refused where it means nothing.
  asked.metric_layers.reset();
  asked.settings = {"noise=[{policy=\"private\",metric=\"input\",clip=0.5,metric_layers=\"all\"}]"};
  EXPECT_EQ(answer(asked, observer).parameters, all.parameters);
  asked = question();
  asked.metric_layers = MetricLayers::all;
  EXPECT_THROW((void)answer(asked, observer), InvalidArgument);
}

TEST_F(PrivateTrain, HardenedNoiseHasTheSameGuaranteeAndSaysWhatItProtects) {
  for (const std::string metric :
       {"isotropic", "per_layer", "released", "input", "input\",metric_layers=\"all"}) {
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
    EXPECT_EQ(text.find("floating-point"), std::string::npos) << text;
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
  EXPECT_GT(second.policy.private_noise().noise_multiplier,
            answer(alone, observer).policy.private_noise().noise_multiplier);
}

InputMomentsMetric by_inputs(double mu) { return {{}, mu, 1.0, 10.0}; }

TEST_F(PrivateTrain, WhitenedInputsAndUnwhitenedWeightsAreTheSameModel) {
  const Study study = read_study(small.dir / "p.toml");
  const StudySets sets = load_sets(study);
  const Network network = network_of(study.model, sets.train);
  ReleaseBits bits(ReleaseKey::from_seed(1));
  const InputMetric metric = release_input_metric(
      network, {sets.train, random_slots(sets.train, 20, 1), World{}}, by_inputs(0.5),
      {NeighbouringRelation::zero_out, NoiseMode::gaussian, bits}, observer);
  const std::vector<float> start = initial_parameters(network, 3);
  const std::vector<float> inside = losses(network, whitened(network, sets.train, metric), start),
                           outside =
                               losses(network, sets.train, unwhitened(network, start, {metric}));
  for (std::size_t r = 0; r < inside.size(); ++r) EXPECT_NEAR(inside[r], outside[r], 1e-4F);
}

/// Two channels of 7 x 6 pixels.
LabelledSet small_images(std::size_t count) {
  LabelledSet set{"images", {2, 7, 6}, 3, {}, {}, {}, {}, {}};
  std::vector<float> values(count * set.shape.size());
  const Stream stream(StreamKey(5, Purpose::noise));
  stream.fill_normal(0, 0, values);
  set.values = values;
  for (std::size_t r = 0; r < count; ++r) set.labels.push_back(static_cast<std::uint8_t>(r % 3));
  return set;
}

Network small_convolution() {
  return {
      {2, 7, 6},
      {{"conv", Conv2d{4, 3, 2, 1}}, {"tanh", Tanh{}}, {"flat", Flatten{}}, {"out", Linear{3}}}};
}

TEST_F(PrivateTrain, PatchesOfAConvolutionAreWhitenedAsInputsAre) {
  const LabelledSet set = small_images(30);
  const Network network = small_convolution();
  ReleaseBits bits(ReleaseKey::from_seed(1));
  const InputMetric metric =
      release_input_metric(network, {set, random_slots(set, 20, 1), World{}}, by_inputs(0.5),
                           {NeighbouringRelation::zero_out, NoiseMode::gaussian, bits}, observer);
  EXPECT_EQ(metric.root.rows(), 18);
  const std::vector<float> start = initial_parameters(network, 3);
  const std::vector<float> inside = losses(whitened_network(network, {metric}),
                                           whitened(network, set, metric), start),
                           outside = losses(network, set, unwhitened(network, start, {metric}));
  for (std::size_t r = 0; r < inside.size(); ++r) EXPECT_NEAR(inside[r], outside[r], 1e-4F);
  EXPECT_THROW(
      (void)release_input_metric(network, {set, random_slots(set, 20, 1), World{}}, by_inputs(0.5),
                                 {NeighbouringRelation::zero_out, NoiseMode::grid, bits}, observer),
      InvalidArgument);
}

// The metric is a function of S~ alone, so that with little noise its root tells the moments: those of the patches, averaged over positions, of
// records that are no longer than the bound. A record that is gone takes away its part, which has a norm of at most bound^2.
TEST_F(PrivateTrain, ARecordChangesTheMomentsByTheBoundAtMost) {
  const LabelledSet set = small_images(80);
  const Slots slots = random_slots(set, 70, 1);  // more than a block
  for (const Network& network :
       {small_convolution(), Network({2, 7, 6}, {{"flat", Flatten{}}, {"out", Linear{3}}})}) {
    for (const double bound : {0.1, 3.0, 100.0}) {
      InputMomentsMetric metric_of_inputs = by_inputs(1e9);
      metric_of_inputs.input_bound = bound;
      metric_of_inputs.floor = 1e3;  // keeps the inverse of singular moments finite
      const auto moments = [&](const World& world) {
        ReleaseBits bits(ReleaseKey::from_seed(1));
        const InputMetric metric = release_input_metric(
            network, {set, slots, world}, metric_of_inputs,
            {NeighbouringRelation::zero_out, NoiseMode::gaussian, bits}, observer);
        const Eigen::MatrixXd inverse = (metric.root * metric.root).inverse();
        return Eigen::MatrixXd(
            70.0 *
            (inverse - metric.ridge * Eigen::MatrixXd::Identity(inverse.rows(), inverse.cols())));
      };
      const Eigen::MatrixXd all = moments({});
      World without;
      without.changes = {SlotChange{5, true}};
      const double change = (all - moments(without)).norm();
      EXPECT_LE(change, bound * bound * (1.0 + 1e-6)) << bound;
      EXPECT_GT(change, 0.0);
      EXPECT_LE(all.trace(), 70.0 * bound * bound * (1.0 + 1e-6));
      if (bound < 1.0) {  // all are scaled down to it
        EXPECT_NEAR(all.trace(), 70.0 * bound * bound, 0.001);
      }
    }
  }
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
  refused(asked, "both `target_epsilon` and noise_multiplier");
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
}  // namespace sfumato::lab
