// Audits of private training against what the accountant proves: one-run audits with gradient canaries, which never show more than there is but
// at their level and come near it; shuffled batches that were accounted as Poisson, which an audit refutes; and the metric `input`, whose own
// release is part of the guarantee; hardened training.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/trial_group.hpp"
#include "lab/study/coin_trials.hpp"
#include "lab/study/input_metric.hpp"
#include "lab/study/training_guarantee.hpp"
#include "lab/study/trial_runner.hpp"
#include "sfumato/audit/canary_audit.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

class PrivateAudit : public ::testing::Test {
 protected:
  /// A linear model of `features` inputs and five classes on `records` random records.
  [[nodiscard]] Study study(int features, int records, const std::string& rest) const {
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    std::string text;
    for (int i = 0; i < records + 1; ++i) {
      for (int j = 0; j < features; ++j) text += std::to_string(normal(engine)) + ",";
      text += std::to_string(i % 5) + "\n";
    }
    put(path_, text);
    return parse_study("[data]\nset = \"" + path_ + "\"\nrecords = " + std::to_string(records) +
                           "\n[[model.layers]]\ntype = \"linear\"\noutputs = 5\n" + rest,
                       "s.toml");
  }
  [[nodiscard]] static CanaryScores canaries_of(const TrialResult& trial) {
    CanaryScores canaries;
    for (const NamedSeries& series : trial.worlds.front().series) {
      if (series.name == "coin_scores") {
        canaries.scores.assign(series.values.begin(), series.values.end());
      }
      if (series.name == "included") {
        canaries.included.assign(series.values.begin(), series.values.end());
      }
    }
    return canaries;
  }
  [[nodiscard]] static double score_of(const WorldResult& world, const std::string& name) {
    for (const NamedScore& score : world.scores) {
      if (score.name == name) return score.value;
    }
    ADD_FAILURE() << name;
    return 0.0;
  }

  TempDir dir_;
  std::string path_ = dir_ / "t.csv";
  Observer observer_;
};

constexpr const char* kCanaries =
    "[train]\nsampler = \"full\"\niterations = 4\nlearning_rate = 0.1\nclip = 0.5\n"
    "noise_multiplier = 1.0\ngradient_canary = true\nlog_every = 0\n";

// 120 small studies of a mechanism with mu = 2, each audited with confidence 95 %: more than 18 bounds above the truth have a probability of
// 1e-5 where each errs with 5 %. Isotropic noise, and noise whose shape follows what 36 steps have released.
class OneRunAudits : public PrivateAudit, public ::testing::WithParamInterface<TrainingMetric> {};

TEST_P(OneRunAudits, ExceedTheGuaranteeAtTheirLevelAtMost) {
  Study s = study(40, 140, std::string(kCanaries) + "[audit]\ncanaries = 100\nreplicas = 120\n");
  s.noise[0].private_noise().metric = GetParam();
  if (s.noise[0].private_noise().learns()) {
    s.train.iterations = 36;
    s.noise[0].private_noise().noise_multiplier = 3.0;
  }
  const TrialRunner runner(s);
  const std::vector<ProvenBounds> proven = proven_bounds(s, runner.identity());
  ASSERT_TRUE(proven[0].exist());
  const double mu = proven[0].mu()->value;
  const double epsilon = proven[0].epsilon(Delta(1e-5)).value.nats();
  EXPECT_NEAR(mu, 2.0, 1e-9);
  int above = 0;
  double largest = 0.0;
  for (std::size_t g = 0; g < runner.groups(); ++g) {
    const CanaryScores canaries = canaries_of(runner.run(g, observer_).front());
    ASSERT_EQ(canaries.scores.size(), 100U);
    const OneRunAudit audit = one_run_audit(canaries, {0.05, std::nullopt, g});
    above += audit.mu().value > mu || audit.epsilon(Delta(1e-5)).value.nats() > epsilon ? 1 : 0;
    largest = std::max(largest, audit.mu().value);
  }
  EXPECT_LE(above, 18);
  EXPECT_GT(largest, 0.8);  // they do show something
}

INSTANTIATE_TEST_SUITE_P(Metrics, OneRunAudits,
                         ::testing::Values(TrainingMetric{IsotropicMetric{}},
                                           TrainingMetric{ReleasedGradientsMetric{}}),
                         [](const auto& each) { return std::string(name(each.param)); });

// One model with 1,000 gradient canaries shows at least half of the mu that is proven. (With a quarter of the noise that was accounted for it
// shows more than is proven, which is how a mistake is found.)
TEST_F(PrivateAudit, OneRunWithGradientCanariesComesNearTheGuarantee) {
  const std::string audit = "[audit]\ncanaries = 1000\nreplicas = 1\n";
  const Study s = study(220, 1050, std::string(kCanaries) + audit);
  const TrialRunner runner(s);
  const double mu = proven_bounds(s, runner.identity())[0].mu()->value;
  const auto shown = [&](const TrialRunner& by) {
    return one_run_audit(canaries_of(by.run(0, observer_).front()), {0.05, std::nullopt, 1})
        .mu()
        .value;
  };
  const double lower = shown(runner);
  EXPECT_GE(lower, 0.5 * mu);
  EXPECT_LE(lower, mu);
  // A quarter of the noise that mu = 1 was proven with.
  Study quiet = s, loud = s;
  quiet.noise[0].private_noise().noise_multiplier = 2.0;
  loud.noise[0].private_noise().noise_multiplier = 0.5;
  EXPECT_GT(shown(TrialRunner(loud)),
            proven_bounds(quiet, TrialRunner(quiet).identity())[0].mu()->value);
}

// Two steps, one record each: a shuffled epoch uses every record for certain, Poisson batches leave it out with probability 1/4. 100 models
// per world refute the Poisson number for shuffled batches (and do not refute it for Poisson ones).
TEST_F(PrivateAudit, AuditsRefuteShuffledBatchesThatAreAccountedAsPoisson) {
  const auto audited = [&](const std::string& sampler) {
    const Study s = study(3, 2,
                          "[train]\nsampler = \"" + sampler +
                              "\"\nbatch_size = 1\niterations = 2\nlearning_rate = 0.1\nclip "
                              "= 0.5\nnoise_multiplier = 0.1\ngradient_canary = true\n[audit]"
                              "\nreplicas = 100\ncoupled = false\nrecord_losses = false\n");
    const TrialRunner runner(s);
    ScoreSample sample;
    for (std::size_t g = 0; g < runner.groups(); ++g) {
      for (const TrialResult& trial : runner.run(g, observer_)) {
        sample.with.push_back(score_of(trial.worlds[0], "projection"));
        sample.without.push_back(score_of(trial.worlds[1], "projection"));
      }
    }
    AuditOptions options;
    options.confidence = 0.99;
    options.strategy = ThresholdStrategy::fixed;
    options.thresholds = {50.0};  // half of what one use moves: 1 / noise_multiplier^2
    return audit_scores(sample, options).delta(Epsilon(std::log(3.0))).value.probability();
  };
  Accountant poisson(NeighbouringRelation::zero_out);
  poisson.compose({GaussianNoise{0.1}, Sampler::poisson, 0.5, 2});
  const double claimed = poisson.delta(Epsilon(std::log(3.0))).upper.value;
  EXPECT_NEAR(claimed, 0.75, 0.01);
  EXPECT_GT(audited("shuffle"), claimed);
  EXPECT_LE(audited("poisson"), claimed);
}

// The metric released is another in each step, and a canary that follows it stands out of every step's noise by as much as is accounted for:
// 500 models per data set show four fifths of mu = 2 with confidence 95 %, and no more than it.
TEST_F(PrivateAudit, AGradientCanaryFollowsTheReleasedMetric) {
  const Study s = study(4, 24,
                        "[train]\nsampler = \"full\"\niterations = 64\nlearning_rate = 0.1\nclip = "
                        "0.5\nnoise_multiplier = 4.0\ngradient_canary = true\nlog_every = 0\n"
                        "[[noise]]\npolicy = \"private\"\nmetric = \"released\"\n"
                        "[audit]\nreplicas = 500\ncoupled = false\nrecord_losses = false\n");
  const TrialRunner runner(s);
  EXPECT_NEAR(proven_bounds(s, runner.identity())[0].mu()->value, 2.0, 1e-9);
  ScoreSample sample;
  for (std::size_t g = 0; g < runner.groups(); ++g) {
    for (const TrialResult& trial : runner.run(g, observer_)) {
      sample.with.push_back(score_of(trial.worlds[0], "projection"));
      sample.without.push_back(score_of(trial.worlds[1], "projection"));
    }
  }
  ASSERT_EQ(sample.with.size(), 500U);
  const double shown = audit_scores(sample, AuditOptions{}).mu().value;
  EXPECT_GE(shown, 0.8 * 2.0);
  EXPECT_LE(shown, 2.0);
}

constexpr const char* kInput =
    "[train]\nsampler = \"full\"\niterations = 9\nlearning_rate = 0.1\nlog_every = 0\n[[noise]]\n"
    "policy = \"private\"\nmetric = \"input\"\nclip = 0.5\nnoise_multiplier = 3.0\nmetric_mu = "
    "0.75\n"
    "[[noise]]\nname = \"plain\"\npolicy = \"private\"\nclip = 0.5\nnoise_multiplier = 3.0\n";

TEST_F(PrivateAudit, TheMetricInputIsAuditedWithItsReleaseInTheGuarantee) {
  const Study s = study(4, 24, std::string(kInput) + "[audit]\nreplicas = 2\n");
  const TrialRunner runner(s);
  const std::vector<ProvenBounds> proven = proven_bounds(s, runner.identity());
  ASSERT_TRUE(proven[0].exist()) << proven[0].reason();
  // mu^2 = 9 / 3^2 + 0.75^2: the second moments count.
  EXPECT_NEAR(proven[0].mu()->value, 1.25, 1e-9);
  EXPECT_NEAR(proven[1].mu()->value, 1.0, 1e-9);
  // The policy beside it is the same to the bit as without it.
  Study alone = s;
  alone.noise.erase(alone.noise.begin());
  for (std::size_t g = 0; g < runner.groups(); ++g) {
    const std::vector<TrialResult> both = runner.run(g, observer_);
    const std::vector<TrialResult> one = TrialRunner(alone).run(g, observer_);
    for (std::size_t w = 0; w < 2; ++w) {
      EXPECT_EQ(score_of(both[1].worlds[w], "loss"), score_of(one[0].worlds[w], "loss"));
      EXPECT_NE(score_of(both[0].worlds[w], "loss"), score_of(both[1].worlds[w], "loss"));
      EXPECT_TRUE(std::isfinite(both[0].worlds[w].training_loss));
    }
    // And the runner repeats itself.
    EXPECT_EQ(score_of(runner.run(g, observer_)[0].worlds[0], "loss"),
              score_of(both[0].worlds[0], "loss"));
  }
}

// 250 models of either world with whitened inputs in both layers, attacked by a gradient canary: mu^2 = 16 / 4^2 for the steps, .75^2 for the moments of
// both layers. The audit errs with 1 %; where the steps have a quarter of the noise it finds out.
TEST_F(PrivateAudit, TheMetricOfEveryLayerShowsNoMoreThanItsGuarantee) {
  const auto of = [&](const std::string& multiplier) {
    return study(
        4, 12,
        "[[model.layers]]\ntype = \"tanh\"\n[[model.layers]]\ntype = \"linear\"\noutputs = "
        "5\n[train]\nsampler = \"full\"\niterations = 16\nlearning_rate = 0.1\n"
        "gradient_canary = true\nlog_every = 0\n[[noise]]\npolicy = \"private\"\nmetric = "
        "\"input\"\nmetric_layers = \"all\"\nmetric_mu = 0.75\nclip = 0.5\n"
        "noise_multiplier = " +
            multiplier + "\n[audit]\nreplicas = 250\ncoupled = false\n");
  };
  const Study s = of("4.0");
  const TrialRunner runner(s);
  const std::vector<ProvenBounds> proven = proven_bounds(s, runner.identity());
  ASSERT_TRUE(proven[0].exist()) << proven[0].reason();
  EXPECT_NEAR(proven[0].mu()->value, 1.25, 1e-9);
  const auto shown = [&](const TrialRunner& by) {
    ScoreSample sample;
    for (std::size_t g = 0; g < by.groups(); ++g) {
      for (const TrialResult& trial : by.run(g, observer_)) {
        sample.with.push_back(score_of(trial.worlds[0], "projection"));
        sample.without.push_back(score_of(trial.worlds[1], "projection"));
      }
    }
    AuditOptions options;
    options.confidence = 0.99;
    return audit_scores(sample, options).mu().value;
  };
  const double lower = shown(runner);
  EXPECT_LE(lower, 1.25);
  EXPECT_GE(lower, 0.4);
  EXPECT_GT(shown(TrialRunner(of("1.0"))), 1.25);
}

TEST_F(PrivateAudit, TheMomentsOfTheInputMetricMoveByTheirBoundBetweenWorlds) {
  const Study s = study(4, 24, std::string(kInput) + "[audit]\nreplicas = 1\n");
  const StudySets sets = load_sets(s);
  const Network network = network_of(s.model, sets.train);
  const NoisePolicy policy = policies_of(s, network).front();
  const SlotPair pair = adjacent_pair(s, sets.train);
  const auto moments = [&](const World& world) {
    // The root is  (S~/N + ridge)^{-1/2}: back to S~ where no eigenvalue was cut off.
    ReleaseBits bits(ReleaseKey::from_seed(1), kMomentStream);
    const InputMetric metric = release_input_metric(
        network, {sets.train, pair.slots, world}, *policy.metric<InputMomentsMetric>(),
        {NeighbouringRelation::zero_out, NoiseMode::gaussian, bits}, observer_);
    const Eigen::MatrixXd inverse = (metric.root * metric.root).inverse();
    return Eigen::MatrixXd(24.0 * (inverse - metric.ridge * Eigen::MatrixXd::Identity(4, 4)));
  };
  const Eigen::MatrixXd change = moments({}) - moments(pair.other);
  EXPECT_LE(change.norm(), 4.0 * (1.0 + 1e-6));  // |x| <= 2, the root of four inputs
  EXPECT_GT(change.norm(), 1e-3);
  // Keys of the metric where they mean nothing, or are missing, are refused.
  EXPECT_THROW((void)study(4, 24,
                           "[train]\nclip = 0.5\nnoise_multiplier = 1.0\n[[noise]]\npolicy = "
                           "\"private\"\nmetric_mu = 1.0\n"),
               InvalidArgument);
  Study without = s;
  std::get<InputMomentsMetric>(without.noise[0].private_noise().metric).mu = 0.0;
  EXPECT_THROW((void)policies_of(without, network), InvalidArgument);
}

// Exact noise on integers, audited as users would: 500 hardened models of either world, attacked along the clipped gradient of the record that one
// of the worlds lacks. Four full batches at a noise multiplier of 2 have mu = 1. The audit errs with 1 %; with half of the noise it finds out.
TEST_F(PrivateAudit, HardenedTrainingShowsNoMoreThanItsGuarantee) {
  const Study s = study(3, 8,
                        "[train]\nsampler = \"full\"\niterations = 4\nlearning_rate = "
                        "0.05\nclip = 0.01\nnoise_multiplier = 2.0\n");
  const StudySets sets = load_sets(s);
  const Network network = network_of(s.model, sets.train);
  const SlotPair pair = adjacent_pair(s, sets.train);
  const auto data = std::make_shared<const TrainingData>(sets.train, pair.slots,
                                                         std::vector{World{}, pair.other});
  ASSERT_EQ(pair.other.changes.size(), 1U);
  const std::uint32_t record = pair.slots.records[pair.other.changes[0].slot];
  std::vector<float> inputs(sets.train.shape.size());
  standardised(sets.train, record, inputs);
  const std::vector<double> values(inputs.begin(), inputs.end());
  const std::vector<float> start = initial_parameters(network, s.train.seed);
  const std::vector<double> direction =
      record_gradient(network, std::vector<double>(start.begin(), start.end()),
                      {values, sets.train.labels[record]})
          .gradient;
  const auto shown = [&](double noise_multiplier) {
    NoisePolicy policy = policies_of(s, network).front();
    policy.private_noise().noise_multiplier = noise_multiplier;
    ScoreSample sample;
    for (std::uint64_t run = 0; run < 500; ++run) {
      Training training = s.train;
      training.hardened = true;
      training.log_every = 0;
      training.key = std::make_shared<ReleaseKey>(ReleaseKey::from_seed(run));
      TrialGroup group(network, data, {policy}, training);
      group.train_until(training.iterations, observer_);
      for (std::size_t m = 0; m < 2; ++m) {
        const std::vector<float> end = group.parameters(m);
        double along = 0.0;
        for (std::size_t i = 0; i < end.size(); ++i) {
          along += (static_cast<double>(start[i]) - static_cast<double>(end[i])) * direction[i];
        }
        (group.models()[m].world == 0 ? sample.with : sample.without).push_back(along);
      }
    }
    AuditOptions options;
    options.confidence = 0.99;
    return audit_scores(sample, options).mu().value;
  };
  const double lower = shown(2.0);
  EXPECT_LE(lower, 1.0);
  EXPECT_GE(lower, 0.5);
  EXPECT_GT(shown(1.0), 1.0);
}

}  // namespace
}  // namespace sfumato::lab
