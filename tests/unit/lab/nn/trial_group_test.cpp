// Training of groups: worlds, policies, resumption, the path KL, divergence.
#include "lab/nn/trial_group.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/network.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

/// Random pixels, of which `black` in eight are zero.
LabelledSet pictures(std::size_t count, int channels = 1, unsigned black = 4) {
  LabelledSet set;
  set.name = "pictures";
  set.shape = {channels, 12, 11};
  set.classes = 3;
  set.standardisation = {255.0, std::vector<double>(static_cast<std::size_t>(channels), 0.4),
                         std::vector<double>(static_cast<std::size_t>(channels), 0.3)};
  std::mt19937 generator(5);
  std::vector<std::uint8_t> values(count * set.shape.size());
  for (auto& v : values) {
    v = generator() % 8 < black ? std::uint8_t{0} : static_cast<std::uint8_t>(generator());
  }
  set.values = std::move(values);
  for (std::size_t i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::uint8_t>(generator() % 3));
  }
  return set;
}

Network small(int channels = 1) {
  return Network({channels, 12, 11},
                 {{"flatten", Flatten{}}, {"fc1", Linear{4}}, {"act", Relu{}}, {"fc2", Linear{3}}});
}

std::vector<NoisePolicy> paper() {
  return {{"iso", PerLayerNoise{{0.01}}}, {"aniso", AnisotropicNoise{{0.01}}}};
}

NoisePolicy fixed_noise(std::string name, double variance, NoiseShape shape) {
  return {std::move(name), FixedNoise{{variance}, std::move(shape)}};
}

std::shared_ptr<const std::vector<float>> constant(float variance) {
  return std::make_shared<const std::vector<float>>(small().parameter_count(), variance);
}

Training quick(std::uint64_t iterations = 40) {
  Training t;
  t.batch_size = 8;
  t.iterations = iterations;
  t.seed = 3;
  t.log_every = 10;
  return t;
}

/// D, and D' without slot 2 (or with record 39 in it).
std::shared_ptr<const TrainingData> pair_data(bool replace = false) {
  const LabelledSet set = pictures(40);
  World other;
  other.changes.push_back({2, !replace, replace ? 39U : 0U, static_cast<std::uint8_t>(1)});
  return std::make_shared<TrainingData>(set, random_slots(set, 24, 1), std::vector{World{}, other});
}

std::vector<std::vector<float>> trained(TrialGroup group, std::uint64_t steps) {
  Observer observer;
  group.train_until(steps, observer);
  std::vector<std::vector<float>> parameters;
  for (std::size_t m = 0; m < group.models().size(); ++m) parameters.push_back(group.parameters(m));
  return parameters;
}

/// The same training written plainly, in double precision, one model.
std::vector<double> plainly(const LabelledSet& set, const Slots& slots, const World& world,
                            const NoisePolicy& noise, const Training& t, const Network& network) {
  const std::vector<float> start = initial_parameters(network, t.seed);
  std::vector<double> theta(start.begin(), start.end());
  BatchSampler sampler(t.batches, slots.count(), t.batch_size, t.seed);
  const Stream normals(StreamKey(t.seed, Purpose::noise));
  std::vector<float> z(theta.size());
  const std::size_t size = set.shape.size(),
                    channels = static_cast<std::size_t>(set.shape.channels);
  for (std::uint64_t step = 0; step < t.iterations; ++step) {
    std::vector<double> g(theta.size());
    for (const std::uint32_t slot : sampler.batch(step)) {
      std::uint32_t record = slots.records[slot];
      std::uint8_t label = slots.labels[slot];
      bool empty = false;
      for (const SlotChange& change : world.changes) {
        if (change.slot != slot) continue;
        empty = change.empty;
        record = change.record;
        label = change.label;
      }
      if (empty) continue;
      std::vector<float> planes(size);
      standardised(set, record, planes);
      std::vector<double> x(size);
      for (std::size_t i = 0; i < size; ++i) {
        x[i % (size / channels) * channels + i / (size / channels)] =
            static_cast<double>(planes[i]);
      }
      const RecordGradient one = record_gradient(network, theta, {x, label});
      const double weight =
          t.loss == LossScale::mean ? 1.0 / static_cast<double>(sampler.nominal_size(step)) : 1.0;
      for (std::size_t i = 0; i < g.size(); ++i) g[i] += weight * one.gradient[i];
    }
    normals.fill_normal(step, 0, z);
    const std::vector<double> variances = step_variances(noise, {network, t.learning_rate, g});
    for (std::size_t i = 0; i < g.size(); ++i) {
      theta[i] += -t.learning_rate * g[i] + std::sqrt(variances[i]) * static_cast<double>(z[i]);
    }
  }
  return theta;
}

TEST(TrialGroup, EqualsThePlainDoublePrecisionTraining) {
  for (const int kind : {0, 1, 2, 3}) {  // channels, and whether black pixels are skipped
    const int channels = 1 + kind % 2;
    const LabelledSet set = pictures(40, channels, kind < 2 ? 4 : 0);
    const Slots slots = random_slots(set, 24, 1);
    for (const bool replace : {false, true}) {
      World other;
      other.changes.push_back({2, !replace, replace ? 39U : 0U, 1});
      for (const BatchScheme scheme : {BatchScheme::shuffled, BatchScheme::with_replacement,
                                       BatchScheme::poisson, BatchScheme::shuffled_all}) {
        Training t = quick(25);
        t.batches = scheme;
        if (scheme == BatchScheme::shuffled_all) t.batch_size = 10;  // and 4 of 24 are left
        t.loss = replace ? LossScale::sum : LossScale::mean;
        t.learning_rate = replace ? 0.01 : 0.1;
        std::vector<NoisePolicy> policies = paper();
        policies.push_back({"none"});
        policies.push_back({"floor", FlooredNoise{{1e-4}, 1e-3}});
        policies.push_back({"plain", IsotropicNoise{{1e-6}}});
        const auto data = std::make_shared<TrainingData>(set, slots, std::vector{World{}, other});
        const auto got = trained(TrialGroup(small(channels), data, policies, t), 25);
        for (std::size_t m = 0; m < got.size(); ++m) {
          const std::vector<double> expected = plainly(set, slots, m % 2 == 0 ? World{} : other,
                                                       policies[m / 2], t, small(channels));
          for (std::size_t i = 0; i < expected.size(); ++i) {
            // Noise of deviation sqrt|g| turns an error of 1e-8 where g is zero into one of 1e-4, and small batches have more of them.
            const double limit = scheme == BatchScheme::shuffled_all ? 6e-4 : 3e-4;
            ASSERT_NEAR(static_cast<double>(got[m][i]), expected[i], limit)
                << "policy " << policies[m / 2].name << " world " << m % 2 << " parameter " << i;
          }
        }
      }
    }
  }
}

TEST(TrialGroup, InitialWeightsBatchesAndNoiseHaveSeedsOfTheirOwn) {
  const auto of = [](std::optional<std::uint64_t> init, std::optional<std::uint64_t> noise,
                     std::uint64_t seed, const char* kind, std::uint64_t steps) {
    Training t = quick();
    t.seed = seed;
    t.init_seed = init;
    t.noise_seed = noise;
    const bool noisy = std::string(kind) == "noisy";
    return trained(
        TrialGroup(small(), pair_data(),
                   {noisy ? NoisePolicy{"iso", IsotropicNoise{{0.01}}} : NoisePolicy{"none"}}, t),
        steps)[0];
  };
  EXPECT_EQ(of(3, 3, 3, "noisy", 20), of({}, {}, 3, "noisy", 20));
  EXPECT_EQ(of(3, {}, 4, "none", 0), of({}, {}, 3, "none", 0));    // the start
  EXPECT_NE(of(3, {}, 4, "none", 20), of({}, {}, 3, "none", 20));  // the batches
  EXPECT_EQ(of({}, 9, 3, "none", 20), of({}, {}, 3, "none", 20));
  EXPECT_NE(of({}, 9, 3, "noisy", 20), of({}, {}, 3, "noisy", 20));
}

TEST(TrialGroup, BitsDoNotDependOnTheGroup) {
  const auto all = trained(TrialGroup(small(), pair_data(), paper(), quick()), 40);
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t p = 0; p < 2; ++p) {
    const auto some = trained(TrialGroup(small(), pair_data(), {paper()[p]}, quick()), 40);
    EXPECT_EQ(some[0], all[2 * p]);
    EXPECT_EQ(some[1], all[2 * p + 1]);
  }
  // Eleven policies: bundles of eight, eight, four and two models.
  std::vector<NoisePolicy> many;
  for (int i = 0; i < 9; ++i) many.push_back({"x", IsotropicNoise{{0.1 * (i + 1)}}});
  const std::vector<NoisePolicy> two = paper();
  many.insert(many.begin() + 4, two.begin(), two.end());
  const auto crowd = trained(TrialGroup(small(), pair_data(), many, quick()), 40);
  EXPECT_EQ(crowd[8], all[0]);
  EXPECT_EQ(crowd[11], all[3]);
}

TEST(TrialGroup, FixedVariancesOfSeveralPolicies) {
  std::vector<NoisePolicy> policies = paper();
  for (const float v : {1e-4F, 2e-4F}) {
    policies.push_back(fixed_noise("fixed", 1.0, {constant(v)}));
  }
  const auto together = trained(TrialGroup(small(), pair_data(), policies, quick()), 40);
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const auto alone = trained(TrialGroup(small(), pair_data(), {policies[p]}, quick()), 40);
    EXPECT_EQ(alone[0], together[2 * p]);
    EXPECT_EQ(alone[1], together[2 * p + 1]);
  }
  // A constant fixed variance is isotropic noise.
  const auto isotropic = trained(
      TrialGroup(small(), pair_data(), {NoisePolicy{"i", IsotropicNoise{{1e-4}}}}, quick()), 40);
  for (std::size_t i = 0; i < isotropic[0].size(); ++i) {
    EXPECT_NEAR(isotropic[0][i], together[4][i], 1e-5);
  }
}

// diag(v) + F F^T: what the factor adds to a step is sqrt(variance) F y, y the step's own normals, the same in all worlds.
TEST(TrialGroup, FixedNoiseOfLowRank) {
  const std::size_t parameters = small().parameter_count();
  const NoisePolicy diagonal = fixed_noise("diagonal", 0.25, {constant(1e-4F)});
  std::vector<std::vector<float>> columns(2, std::vector<float>(parameters));
  for (std::size_t i = 0; i < parameters; ++i) {
    columns[0][i] = i % 3 == 0 ? 0.5F : 0.0F;
    columns[1][i] = 0.1F * static_cast<float>(i % 5);
  }
  const auto with_columns = [&] {
    return fixed_noise(
        "low rank", 0.25,
        {constant(1e-4F), std::make_shared<const std::vector<std::vector<float>>>(columns)});
  };
  const NoisePolicy low_rank = with_columns();
  const Training t = quick();
  TrialGroup group(small(), pair_data(), {diagonal, low_rank}, t);
  Observer observer;
  group.train_until(1, observer);
  std::vector<float> y(2);
  Stream(StreamKey(t.seed, Purpose::noise, {1})).fill_normal(0, 0, y);
  for (std::size_t world = 0; world < 2; ++world) {
    const std::vector<float> without = group.parameters(world), with = group.parameters(2 + world);
    for (std::size_t i = 0; i < parameters; ++i) {
      EXPECT_NEAR(with[i] - without[i], 0.5F * (columns[0][i] * y[0] + columns[1][i] * y[1]),
                  1e-5F);
    }
  }
  const auto together = trained(TrialGroup(small(), pair_data(), {diagonal, low_rank}, t), 40);
  const auto alone = trained(TrialGroup(small(), pair_data(), {low_rank}, t), 40);
  EXPECT_EQ(alone[0], together[2]);
  EXPECT_EQ(alone[1], together[3]);
  // The noise of a parameter, as measures show it.
  const Network network = small();
  const std::vector<double> still(parameters, 0.0);
  const std::vector<double> variances = step_variances(low_rank, {network, 0.1, still});
  EXPECT_NEAR(variances[3], 0.25 * (1e-4 + 0.25 + 0.09), 1e-7);
  Training path = t;
  path.path_kl = true;
  EXPECT_THROW(TrialGroup(small(), pair_data(), {low_rank}, path), InvalidArgument);
  columns[1].pop_back();
  EXPECT_THROW(TrialGroup(small(), pair_data(), {with_columns()}, t), InvalidArgument);
}

TEST(TrialGroup, ResumesToTheSameBits) {
  Training t = quick();
  t.path_kl = t.gradient_differences = true;
  TrialGroup whole(small(), pair_data(true), paper(), t);
  Observer observer;
  whole.train_until(40, observer);
  TrialGroup first(small(), pair_data(true), paper(), t);
  first.train_until(17, observer);
  TrialGroup second(small(), pair_data(true), paper(), t);
  second.restore(first.state());
  EXPECT_EQ(second.step(), 17U);
  second.train_until(40, observer);
  for (std::size_t m = 0; m < 4; ++m) {
    EXPECT_EQ(second.parameters(m), whole.parameters(m));
    EXPECT_EQ(second.models()[m].path_kl.nats, whole.models()[m].path_kl.nats);
    EXPECT_EQ(second.models()[m].squared_differences, whole.models()[m].squared_differences);
    ASSERT_EQ(second.models()[m].losses.size(), whole.models()[m].losses.size());
    EXPECT_EQ(second.models()[m].losses.back().loss, whole.models()[m].losses.back().loss);
  }
  GroupState state = first.state();
  state.parameters.pop_back();
  EXPECT_THROW(second.restore(state), InvalidArgument);
}

/// The path KL against its definition: both worlds' gradients at the model's weights, in double
/// precision.
TEST(TrialGroup, PathKlIsTheKlOfTheStepsAtTheSamePoint) {
  const LabelledSet set = pictures(40);
  const Slots slots = random_slots(set, 24, 1);
  World other;
  other.changes.push_back({2, false, 39, 1});
  const auto data = std::make_shared<TrainingData>(set, slots, std::vector{World{}, other});
  std::vector<NoisePolicy> policies = {{"floor", FlooredNoise{{0.01}, 1e-3}},
                                       {"iso", PerLayerNoise{{0.01}}}};
  Training t = quick(30);
  t.path_kl = true;
  TrialGroup group(small(), data, policies, t);
  Observer observer;
  BatchSampler sampler(t.batches, 24, 8, t.seed);
  const Network network = small();
  std::vector<double> expected(4);
  std::uint64_t differing = 0;
  for (std::uint64_t step = 0; step < 30; ++step) {
    const auto batch = sampler.batch(step);
    const bool differs = std::find(batch.begin(), batch.end(), 2U) != batch.end();
    differing += differs ? 1 : 0;
    for (std::size_t m = 0; differs && m < 4; ++m) {
      const std::vector<float> values = group.parameters(m);
      const std::vector<double> theta(values.begin(), values.end());
      std::vector<double> g[2] = {std::vector<double>(theta.size()),
                                  std::vector<double>(theta.size())};
      for (std::size_t world = 0; world < 2; ++world) {
        for (const std::uint32_t slot : batch) {
          const bool changed = world == 1 && slot == 2;
          std::vector<float> x(132);
          standardised(set, changed ? 39 : slots.records[slot], x);
          const std::vector<double> record(x.begin(), x.end());
          const auto one = record_gradient(small(), theta,
                                           {record, changed ? std::size_t{1} : slots.labels[slot]});
          for (std::size_t i = 0; i < theta.size(); ++i) g[world][i] += one.gradient[i] / 8.0;
        }
      }
      const std::size_t own = m % 2;
      const NoisePolicy& p = policies[m / 2];
      expected[m] += step_kl_by_coordinate(0.1, std::span<const double>(g[own]), g[1 - own],
                                           step_variances(p, {network, 0.1, g[own]}),
                                           step_variances(p, {network, 0.1, g[1 - own]}))
                         .nats;
    }
    group.train_until(step + 1, observer);
  }
  for (std::size_t m = 0; m < 4; ++m) {
    EXPECT_EQ(group.models()[m].path_kl.steps, differing);
    EXPECT_NEAR(group.models()[m].path_kl.nats, expected[m], 1e-3 * expected[m]);
    EXPECT_GT(expected[m], 0.0);
  }
}

/// Clipped, one record more or less: the step moves by its clipped gradient in either world, so that both worlds' path KL is at least the number of
/// steps it was in times what a short gradient gives, and at most mu^2 / 2 a step.
TEST(TrialGroup, PathKlOfClippedGradientsCountsInBothWorlds) {
  // Shorter than any gradient here: every step has the full clip.
  const NoisePolicy p{"private", PrivateNoise{1e-3, 2.0}};
  Training t = quick(30);
  t.path_kl = true;
  TrialGroup group(small(), pair_data(), {p}, t);
  Observer observer;
  group.train_until(30, observer);
  for (const ModelRecord& record : group.models()) {
    ASSERT_GT(record.path_kl.steps, 0U);
    const double most = static_cast<double>(record.path_kl.steps) / 8.0;
    EXPECT_LE(record.path_kl.nats, most);
    EXPECT_GT(record.path_kl.nats, 0.99 * most);
  }
}

TEST(TrialGroup, PathKlOfEqualWorldsIsZero) {
  const LabelledSet set = pictures(40);
  const auto data =
      std::make_shared<TrainingData>(set, random_slots(set, 24, 1), std::vector{World{}, World{}});
  Training t = quick();
  t.path_kl = t.gradient_differences = true;
  TrialGroup group(small(), data, paper(), t);
  Observer observer;
  group.train_until(40, observer);
  for (const ModelRecord& record : group.models()) {
    EXPECT_EQ(record.path_kl.nats, 0.0);
    EXPECT_EQ(record.path_kl.steps, 0U);
    EXPECT_EQ(record.squared_differences, std::vector<double>(small().parameter_count()));
  }
  EXPECT_EQ(group.parameters(0), group.parameters(1));
}

TEST(TrialGroup, NoiseThatIsZeroOnOneSideIsInfiniteAndNamed) {
  Training t = quick();
  t.path_kl = true;
  TrialGroup group(small(), pair_data(), {NoisePolicy{"none"}}, t);
  Observer observer;
  group.train_until(40, observer);
  const PathKlSum& path_kl = group.models()[0].path_kl;
  EXPECT_TRUE(std::isinf(path_kl.nats));
  EXPECT_GT(path_kl.infinite_steps, 0U);
  ASSERT_TRUE(path_kl.first_infinite);
  EXPECT_FALSE(path_kl.first_infinite->first_coordinates.empty());
}

TEST(TrialGroup, DivergedModelsEndAndTheOthersGoOn) {
  std::vector<NoisePolicy> policies = {{"wild", IsotropicNoise{{1e38}}}, paper()[1]};
  TrialGroup group(small(), pair_data(), policies, quick());
  Observer observer;
  group.train_until(40, observer);
  EXPECT_TRUE(group.models()[0].diverged_at);
  EXPECT_FALSE(group.models()[2].diverged_at);
  EXPECT_EQ(group.models()[2].losses.size(), 4U);
  const auto alone = trained(TrialGroup(small(), pair_data(), {paper()[1]}, quick()), 40);
  EXPECT_EQ(group.parameters(2), alone[0]);
}

TEST(TrialGroup, Evaluates) {
  const LabelledSet set = pictures(40);
  TrialGroup group(small(), pair_data(), paper(), quick());
  Observer observer;
  group.train_until(10, observer);
  std::vector<std::uint32_t> records(40);
  for (std::uint32_t i = 0; i < 40; ++i) records[i] = i;
  const RecordStore store(set, records);
  const TrialGroup::Evaluation got = group.evaluate(store, set.labels);
  for (std::size_t m = 0; m < 4; ++m) {
    const std::vector<float> values = group.parameters(m);
    const std::vector<double> theta(values.begin(), values.end());
    for (std::size_t r = 0; r < 40; r += 7) {
      std::vector<float> x(132);
      standardised(set, r, x);
      const std::vector<double> record(x.begin(), x.end());
      EXPECT_NEAR(static_cast<double>(got.losses[m][r]),
                  record_gradient(small(), theta, {record, set.labels[r]}).loss, 1e-5);
    }
  }
}

TEST(TrialGroup, Refusals) {
  const auto message = [](const Network& network, std::vector<NoisePolicy> policies,
                          const Training& t, std::shared_ptr<const TrainingData> data) {
    try {
      TrialGroup(network, std::move(data), std::move(policies), t);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(message(preset_network("mlp-10"), paper(), quick(), pair_data()),
       "the first layer `flatten` takes records of 1 x 28 x 28 numbers, the data have 1 x 12 x 11");
  says(message(Network({1, 12, 11}, {{"f", Flatten{}}, {"fc", Linear{2}}}), paper(), quick(),
               pair_data()),
       "`fc` has 2 outputs, the data 3 classes");
  says(message(small(), {}, quick(), pair_data()), "no noise policy");
  Training t = quick();
  t.learning_rate = -1;
  says(message(small(), paper(), t, pair_data()), "learning_rate = -1");
  t = quick();
  t.batch_size = 25;
  says(message(small(), paper(), t, pair_data()), "25");
  t = quick();
  t.path_kl = true;
  const LabelledSet set = pictures(40);
  says(message(small(), paper(), t,
               std::make_shared<TrainingData>(set, random_slots(set, 24, 1), std::vector{World{}})),
       "compares D and D', there are 1");
  World bad;
  bad.changes.push_back({24, true, 0, 0});
  EXPECT_THROW(TrainingData(set, random_slots(set, 24, 1), {bad}), InvalidArgument);
  EXPECT_THROW(TrainingData(set, random_slots(set, 24, 1), {}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
