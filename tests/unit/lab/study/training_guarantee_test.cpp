// Private policies of a study: their keys, what the accountant proves of them, and what must not pass for a guarantee.
#include "lab/study/training_guarantee.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/nn/private_metric.hpp"
#include "lab/study/study_data.hpp"
#include "lab/study/trial_runner.hpp"
#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/data/npz.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

class PrivateStudy : public ::testing::Test {
 protected:
  PrivateStudy() { write("clip = 0.5\nnoise_multiplier = 2.0\n", ""); }

  void write(const std::string& train, const std::string& noise) const {
    put(small.dir / "p.toml", std::string(R"([data]
set = "t.csv"
records = 20
)") + SmallStudy::kLayers + R"([train]
sampler = "poisson"
batch_size = 5
epochs = 10
)" + train + noise + "[audit]\nreplicas = 2\n");
  }
  [[nodiscard]] Study study(const std::vector<std::string>& settings = {}) const {
    return read_study(small.dir / "p.toml", settings);
  }
  void refused(const std::string& train, const std::string& noise, const std::string& says) const {
    write(train, noise);
    const std::string message = message_of<InvalidArgument>([&] { (void)study(); });
    EXPECT_NE(message.find(says), std::string::npos) << message;
  }
  [[nodiscard]] TrainingGuarantee guarantee(const Study& of, NoisePolicy policy) const {
    return training_guarantee(policy, network(of), of.train, 20, relation_of(of.adjacency.kind));
  }
  [[nodiscard]] static Network network(const Study& of) {
    return network_of(of.model, load_sets(of).train);
  }

  SmallStudy small;
};

TEST_F(PrivateStudy, TrainSaysItForAllPolicies) {
  const Study one = study();
  ASSERT_EQ(one.noise.size(), 1U);
  ASSERT_TRUE(one.noise[0].is_private());
  EXPECT_EQ(one.noise[0].private_noise().clip, 0.5);
  EXPECT_EQ(one.noise[0].private_noise().noise_multiplier, 2.0);
  EXPECT_EQ(one.train.iterations, 40U);  // ten epochs of four batches
  EXPECT_EQ(one.train.batches, BatchScheme::poisson);
  // The canonical text reads back as the same study.
  put(small.dir / "again.toml", canonical_text(one));
  EXPECT_EQ(canonical_text(read_study(small.dir / "again.toml")), canonical_text(one));
  write(
      "max_grad_norm = 1.0\nnoise_multiplier = 1.5\nmomentum = 0.9\nschedule = "
      "\"cosine\"\naverage_last = 3\n",
      "[[noise]]\npolicy = \"private\"\n[[noise]]\nname = \"layers\"\npolicy = \"private\"\nmetric "
      "= "
      "\"per_layer\"\nclip = 2.0\n");
  const Study two = study();
  EXPECT_EQ(two.noise[0].private_noise().clip, 1.0);
  EXPECT_EQ(two.noise[1].private_noise().clip, 2.0);
  EXPECT_EQ(two.train.momentum, 0.9);
  put(small.dir / "again.toml", canonical_text(two));
  EXPECT_EQ(canonical_text(read_study(small.dir / "again.toml")), canonical_text(two));
  const std::vector<NoisePolicy> policies = policies_of(two, network(two));
  EXPECT_NEAR(policies[1].metric<PerLayerMetric>()->clips[0], std::sqrt(2.0), 1e-12);
}

TEST_F(PrivateStudy, ContradictionsAreRefused) {
  const std::string is_private = "[[noise]]\npolicy = \"private\"\n";
  refused("", is_private, "has no clip");
  refused("clip = 1.0\n", "[[noise]]\npolicy = \"isotropic\"\nvariance = 0.1\n",
          "no noise policy is private");
  refused("", "[[noise]]\npolicy = \"isotropic\"\nvariance = 0.1\nclip = 1.0\n", "does not clip");
  refused("clip = 1.0\niterations = 5\n", is_private, "both `epochs` and `iterations`");
  refused("clip = 1.0\n", is_private + "variance = 0.1\n", "means nothing");
  refused("clip = 1.0\n", is_private + "metric = \"whitened\"\n", "needs `covariance`");
  refused("clip = 1.0\n", is_private + "layer_clips = [1.0, 1.0]\n", "layer_clips");
  refused("clip = -1.0\n", is_private, "clip");
  refused("clip = 1.0\nmomentum = 1.0\n", is_private, "momentum");
}

// What every trial would fail with is said before the first, with its place in the file.
TEST_F(PrivateStudy, WhatNoTrialCouldTrainIsRefusedBeforeTheFirst) {
  write("clip = 0.5\nnoise_multiplier = 2.0\ngradient_canary = true\n", "");
  EXPECT_NO_THROW(TrialRunner{study()});
  for (const std::string both : {"train.momentum=0.5", "train.path_kl=true"}) {
    for (const std::string worlds : {"audit.coupled=true", "audit.canaries=10"}) {
      if (both == "train.path_kl=true" && worlds == "audit.canaries=10") continue;
      const std::string message = message_of<InvalidArgument>([&] {
        (void)TrialRunner(study({both, worlds}));
      });
      EXPECT_NE(message.find("a gradient canary with"), std::string::npos) << message;
      EXPECT_NE(message.find("p.toml"), std::string::npos) << message;
    }
  }
}

TEST_F(PrivateStudy, TheAccountantSaysWhatIsProven) {
  const Study s = study();
  const std::vector<ProvenBounds> bounds = proven_bounds(s, TrialRunner(s).identity());
  ASSERT_TRUE(bounds[0].exist()) << bounds[0].reason();
  Accountant accountant(NeighbouringRelation::zero_out);
  accountant.compose({GaussianNoise{2.0}, Sampler::poisson, 0.25, 40});
  EXPECT_NEAR(bounds[0].epsilon(Delta(1e-5)).value.nats(),
              accountant.epsilon(Delta(1e-5)).upper.value, 1e-9);
  EXPECT_EQ(bounds[0].epsilon(Delta(1e-5)).claim, Claim::upper_bound);
  EXPECT_LE(bounds[0].delta(bounds[0].epsilon(Delta(1e-5)).value).value.probability(), 1.001e-5);
}

TEST_F(PrivateStudy, EverySamplerHasItsOwnNumber) {
  const Study s = study();
  const NoisePolicy policy = policies_of(s, network(s)).front();
  const auto epsilon = [&](const std::string& sampler, const std::string& kind) {
    const TrainingGuarantee found =
        guarantee(study({"train.sampler=" + sampler, "adjacency.kind=" + kind}), policy);
    return found.accountant ? found.accountant->epsilon(Delta(1e-5)).upper.value : -1.0;
  };
  const double poisson = epsilon("poisson", "remove");
  // Shuffled batches must not have the Poisson number: theirs is that of one use an epoch.
  EXPECT_GT(epsilon("shuffle", "remove"), 1.5 * poisson);
  Accountant uses(NeighbouringRelation::zero_out);
  uses.compose({GaussianNoise{2.0}, Sampler::full, 1.0, 10});
  EXPECT_NEAR(epsilon("shuffle", "remove"), uses.epsilon(Delta(1e-5)).upper.value, 1e-9);
  EXPECT_EQ(epsilon("with_replacement", "remove"), -1.0);
  EXPECT_EQ(epsilon("fixed_size", "remove"), -1.0);  // N changes: not defined
  EXPECT_GT(epsilon("fixed_size", "replace"), epsilon("poisson", "replace"));
  EXPECT_GT(epsilon("poisson", "replace"), poisson);
}

TEST_F(PrivateStudy, MetricsHaveOneMultiplier) {
  const Study s = study();
  NoisePolicy layers = policies_of(s, network(s)).front();
  layers.private_noise().metric = PerLayerMetric{{}, {0.3, 0.4}};
  const PrivateRelease release = release_of_training(layers, network(s), s.train, 20);
  EXPECT_NEAR(std::get<GaussianNoise>(release.mechanism).noise_multiplier, 2.0, 1e-9);
  EXPECT_LE(std::get<GaussianNoise>(release.mechanism).noise_multiplier, 2.0);
  // What would be wrong: every layer clipped to C with noise 2 C accounted as one clip of C.
  EXPECT_NEAR(contribution_of_layers({0.5, 0.5}, {1.0, 1.0}), std::sqrt(2.0) * 0.5, 1e-9);
}

TEST_F(PrivateStudy, NoiseThatFollowsPrivateGradientsHasNoGuarantee) {
  const Study s = study();
  for (const NoiseRule& rule : std::vector<NoiseRule>{AnisotropicNoise{{0.1}}, PerLayerNoise{{0.1}},
                                                      IsotropicNoise{{0.1}}, NoNoise{}}) {
    const TrainingGuarantee found = guarantee(s, {"policy", rule});
    EXPECT_FALSE(found.accountant);
    EXPECT_FALSE(found.reason.empty());
  }
}

// Sums divided by the realised size of a batch differ by more than clip / b between neighbours: the bound that the accountant uses.
TEST_F(PrivateStudy, DivisionByTheActualSizeWouldBreakTheBound) {
  const double clip = 1.0;
  const int size = 5;  // four records at -clip, one at +clip; in D' the last is not there
  const double with = (-4.0 + 1.0) / size, without = -4.0 / (size - 1);
  const double nominal_without = -4.0 / size;
  EXPECT_LE(std::fabs(with - nominal_without), clip / size + 1e-12);
  EXPECT_GT(std::fabs(with - without), 1.5 * clip / size);
}

// The score of a gradient canary in the two worlds is as far apart as the accountant says at most, for full batches: mu = sqrt(T) / multiplier.
// 400 replicas; the difference of means is mu = 1 with standard error sqrt(2 / 400) = 0.07: 5 of them, false alarm 6e-7.
// The metric low_rank has no noise along its factor in one coordinate alone, where the canary has to look. That of released is another in each
// of 64 steps, behind the first 20.
TEST_F(PrivateStudy, AGradientCanaryAttainsTheCertifiedMu) {
  write("clip = 0.5\nnoise_multiplier = 4.0\n", "");
  const Study s = study({"train.sampler=full", "train.batch_size=20", "train.epochs=16",
                         "train.gradient_canary=true", "audit.replicas=400", "audit.coupled=false",
                         "audit.record_losses=false"});
  const std::size_t parameters = network(s).parameter_count();
  std::vector<float> variances(parameters), factor(parameters, 1.0F);
  for (std::size_t i = 0; i < parameters; ++i) variances[i] = 0.1F * static_cast<float>(1 + i % 9);
  factor[7] = 0.0F;
  NpzWriter diagonal, low_rank;
  diagonal.add("variances", variances, std::vector<std::size_t>{parameters});
  low_rank.add("diagonal", variances, std::vector<std::size_t>{parameters});
  low_rank.add("factor", factor, std::vector<std::size_t>{parameters, 1});
  diagonal.write(small.dir / "whitened.npz");
  low_rank.write(small.dir / "low_rank.npz");
  for (const TrainingMetric& metric :
       std::vector<TrainingMetric>{IsotropicMetric{}, PerLayerMetric{}, WhitenedMetric{},
                                   LowRankMetric{}, ReleasedGradientsMetric{}}) {
    Study shaped = s;
    shaped.noise[0].private_noise().metric = metric;
    if (shaped.noise[0].private_noise().learns()) {
      shaped.train.iterations = 64;
      shaped.noise[0].private_noise().noise_multiplier = 8.0;
    }
    if (shaped.noise[0].private_noise().shape() != nullptr) {
      shaped.noise[0].covariance = small.dir / (std::string(name(metric)) + ".npz");
    }
    const TrialRunner runner(shaped);
    double sum[2] = {}, squares[2] = {};
    Observer observer;
    for (std::size_t replica = 0; replica < 400; ++replica) {
      for (const TrialResult& trial : runner.run(replica, observer)) {
        for (std::size_t w = 0; w < 2; ++w) {
          for (const NamedScore& score : trial.worlds[w].scores) {
            if (score.name != "projection") continue;
            sum[w] += score.value / 400.0;
            squares[w] += score.value * score.value / 400.0;
          }
        }
      }
    }
    const double variance = 0.5 * (squares[0] - sum[0] * sum[0] + squares[1] - sum[1] * sum[1]);
    const double mu = (sum[0] - sum[1]) / std::sqrt(variance);
    EXPECT_NEAR(mu, std::sqrt(16.0) / 4.0, 5.0 * std::sqrt(2.0 / 400.0)) << name(metric);
    EXPECT_GT(mu, 0.0);
  }
}

}  // namespace
}  // namespace sfumato::lab
