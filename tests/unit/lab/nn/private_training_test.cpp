// Private training: the steps written plainly in double precision, what the two worlds differ by before noise, resumption, the distributions of noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/gradient_moments.hpp"
#include "lab/nn/kernel/elementwise.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/private_metric.hpp"
#include "lab/nn/trial_group.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {
namespace {

LabelledSet pictures(std::size_t count) {
  LabelledSet set;
  set.name = "pictures";
  set.shape = {1, 12, 11};
  set.classes = 3;
  set.standardisation = {255.0, {0.4}, {0.3}};
  std::mt19937 generator(5);
  std::vector<std::uint8_t> values(count * set.shape.size());
  for (auto& v : values) {
    v = generator() % 8 < 4 ? std::uint8_t{0} : static_cast<std::uint8_t>(generator());
  }
  set.values = std::move(values);
  for (std::size_t i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::uint8_t>(generator() % 3));
  }
  return set;
}

Network small() {
  return Network({1, 12, 11},
                 {{"flatten", Flatten{}}, {"fc1", Linear{4}}, {"act", Relu{}}, {"fc2", Linear{3}}});
}

/// Two layers with parameters too, the first of which is a convolution.
Network convolution() {
  return Network({1, 12, 11}, {{"conv", Conv2d{3, 3, 2, 1}},
                               {"act", Tanh{}},
                               {"pool", AvgPool2d{2}},
                               {"flatten", Flatten{}},
                               {"fc", Linear{3}}});
}

std::shared_ptr<const std::vector<float>> shared(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

NoisePolicy clipped(TrainingMetric metric, double clip, double multiplier,
                    const Network& network = small()) {
  std::vector<float> variances(network.parameter_count());
  for (std::size_t i = 0; i < variances.size(); ++i) {
    variances[i] = 0.2F + 0.1F * static_cast<float>(i % 17);
  }
  std::vector<std::vector<float>> columns(2, std::vector<float>(network.parameter_count()));
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    columns[0][i] = i % 3 == 0 ? 1.0F : 0.0F;
    columns[1][i] = 0.5F;
  }
  std::visit(Overloaded{[&](PerLayerMetric& own) {
                          own.clips = {0.8 * clip, 0.6 * clip};
                        },
                        [&](WhitenedMetric& own) { own.given = {shared(variances)}; },
                        [&](LowRankMetric& own) {
                          own.given = {shared(variances),
                                       std::make_shared<const std::vector<std::vector<float>>>(
                                           std::move(columns))};
                        },
                        [](auto&) {}},
             metric);
  return {std::string(name(metric)), PrivateNoise{clip, multiplier, std::move(metric)}};
}

std::vector<NoisePolicy> all_metrics(double clip, double multiplier,
                                     const Network& network = small()) {
  std::vector<NoisePolicy> policies;
  for (const TrainingMetric& metric :
       std::vector<TrainingMetric>{IsotropicMetric{}, PerLayerMetric{}, WhitenedMetric{},
                                   LowRankMetric{}, ReleasedGradientsMetric{}}) {
    policies.push_back(clipped(metric, clip, multiplier, network));
  }
  return policies;
}

Training quick(std::uint64_t iterations = 40) {
  Training t;
  t.batches = BatchScheme::poisson;
  t.batch_size = 6;
  t.iterations = iterations;
  t.seed = 3;
  t.log_every = 10;
  return t;
}

struct Pair {
  LabelledSet set = pictures(40);
  Slots slots = random_slots(set, 24, 1);
  World other;
  std::shared_ptr<const TrainingData> data;

  explicit Pair(bool replace = false) {
    other.changes.push_back({2, !replace, replace ? 39U : 0U, 1});
    data = std::make_shared<TrainingData>(set, slots, std::vector{World{}, other});
  }
};

/// The same training written plainly, in double precision, one model. Momentum, schedule and average as the formulas say.
std::vector<double> plainly(const Pair& pair, const World& world, const NoisePolicy& policy,
                            const Training& t, const Network& network) {
  const std::vector<float> start = initial_parameters(network, t.seed);
  std::vector<double> theta(start.begin(), start.end()), velocity(theta.size(), 0.0),
      average(theta.size(), 0.0);
  BatchSampler sampler(t.batches, pair.slots.count(), t.batch_size, t.seed);
  const Stream normals(StreamKey(t.seed, Purpose::noise)),
      factors(StreamKey(t.seed, Purpose::noise, {1}));
  GradientMoments moments(theta.size());
  std::vector<float> z(theta.size()), y(2);
  for (std::uint64_t step = 0; step < t.iterations; ++step) {
    std::vector<std::vector<double>> values;
    std::vector<LabelledRecord> records;
    const auto batch = sampler.batch(step);
    values.reserve(batch.size());
    for (const std::uint32_t slot : batch) {
      std::uint32_t record = pair.slots.records[slot];
      std::uint8_t label = pair.slots.labels[slot];
      bool empty = false;
      for (const SlotChange& change : world.changes) {
        if (change.slot != slot) continue;
        empty = change.empty;
        record = change.record;
        label = change.label;
      }
      if (empty) continue;
      std::vector<float> pixels(pair.set.shape.size());
      standardised(pair.set, record, pixels);
      values.emplace_back(pixels.begin(), pixels.end());
      records.push_back({values.back(), label});
    }
    std::vector<float> shape(theta.size(), 1.0F);
    const PrivateNoise& private_noise = policy.private_noise();
    const NoiseShape* given = private_noise.shape();
    if (given != nullptr) shape = *given->variances;
    const bool released = private_noise.learns();
    if (released && step >= warm_up_steps(t.iterations)) shape = moments.shape();
    std::vector<float> inverse;
    if (released || given != nullptr) {
      for (const float v : shape) inverse.push_back(1.0F / v);
    }
    std::vector<double> g =
        clipped_gradient(network, theta, records, private_noise.clipping(), inverse).sum;
    normals.fill_normal(step, 0, z);
    factors.fill_normal(step, 0, y);
    const std::vector<double> deviations = private_noise.deviations(network);
    const double unit = 1.0 / static_cast<double>(t.batch_size);
    // Without a velocity the noise is added to the parameters as it is, which turns its sign.
    const double sign = t.momentum > 0.0 || released ? 1.0 : -1.0;
    std::vector<double> variances(g.size());
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      const ParameterBlock& block = network.blocks()[b];
      for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
        double noise = sign * std::sqrt(static_cast<double>(shape[i])) * static_cast<double>(z[i]);
        for (std::size_t k = 0; given != nullptr && given->factor && k < 2; ++k) {
          noise += static_cast<double>((*given->factor)[k][i] * y[k]);
        }
        g[i] = unit * (g[i] + deviations[b] * noise);
        variances[i] = std::pow(unit * deviations[b], 2) * static_cast<double>(shape[i]);
        velocity[i] = t.momentum * velocity[i] + g[i];
        theta[i] -= t.rate_at(step) * velocity[i];
        average[i] += step + t.average_last >= t.iterations
                          ? theta[i] / static_cast<double>(t.average_last)
                          : 0.0;
      }
    }
    if (released) moments.add(g, variances);
  }
  return t.average_last > 0 ? average : theta;
}

std::vector<std::vector<float>> trained(TrialGroup group, std::uint64_t steps) {
  Observer observer;
  group.train_until(steps, observer);
  std::vector<std::vector<float>> parameters;
  for (std::size_t m = 0; m < group.models().size(); ++m) parameters.push_back(group.parameters(m));
  return parameters;
}

void expect_plain(const Training& t, const std::vector<NoisePolicy>& policies, bool replace,
                  const Network& network = small()) {
  const Pair pair(replace);
  const auto got = trained(TrialGroup(network, pair.data, policies, t), t.iterations);
  for (std::size_t m = 0; m < got.size(); ++m) {
    const NoisePolicy& policy = policies[m / 2];
    const std::vector<double> expected =
        plainly(pair, m % 2 == 0 ? World{} : pair.other, policy, t, network);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(got[m][i]), expected[i], 2e-4)
          << policy.name << " world " << m % 2 << " parameter " << i << " sampler "
          << name(t.batches);
    }
  }
}

TEST(PrivateTraining, EqualsThePlainDoublePrecisionTraining) {
  for (const bool replace : {false, true}) {
    for (const BatchScheme scheme : {BatchScheme::poisson, BatchScheme::shuffled,
                                     BatchScheme::fixed_size, BatchScheme::full}) {
      Training t = quick(30);
      t.batches = scheme;
      if (scheme == BatchScheme::full) t.batch_size = 24;
      expect_plain(t, all_metrics(0.5, 0.3), replace);
    }
  }
}

TEST(PrivateTraining, OfAConvolutionToo) {
  for (const bool replace : {false, true}) {
    for (const BatchScheme scheme : {BatchScheme::poisson, BatchScheme::full}) {
      Training t = quick(30);
      t.batches = scheme;
      if (scheme == BatchScheme::full) t.batch_size = 24;
      expect_plain(t, all_metrics(0.5, 0.3, convolution()), replace, convolution());
    }
  }
  Training t = quick(25);
  t.batch_size = 1;  // a third of the batches are empty
  t.average_last = 7;
  t.schedule = RateSchedule::linear;
  expect_plain(t, all_metrics(0.5, 0.3, convolution()), false, convolution());
}

TEST(PrivateTraining, MomentumScheduleAndAverage) {
  Training t = quick(25);
  t.momentum = 0.8;
  t.learning_rate = 0.05;
  const std::vector<NoisePolicy> policies = all_metrics(0.5, 0.3);
  expect_plain(t, policies, false);
  t.average_last = 7;
  t.schedule = RateSchedule::cosine;
  expect_plain(t, policies, false);
  t.momentum = 0.0;
  t.schedule = RateSchedule::linear;
  expect_plain(t, all_metrics(0.5, 0.3), true);
}

TEST(PrivateTraining, EmptyBatchesStillAddNoise) {
  Training t = quick(60);
  t.batch_size = 1;  // a third of the batches are empty
  expect_plain(t, all_metrics(0.5, 0.3), false);
  BatchSampler sampler(t.batches, 24, 1, t.seed);
  std::uint64_t empty = 0;
  while (empty < 60 && !sampler.batch(empty).empty()) ++empty;
  ASSERT_LT(empty, 60U);
  const Pair pair;
  for (const Network& network : {small(), convolution()}) {
    const std::vector<NoisePolicy> policies = all_metrics(0.5, 0.3, network);
    TrialGroup group(network, pair.data, policies, t);
    Observer observer;
    group.train_until(empty, observer);
    std::vector<std::vector<float>> before;
    for (std::size_t m = 0; m < group.models().size(); ++m) before.push_back(group.parameters(m));
    group.train_until(empty + 1, observer);
    for (std::size_t m = 0; m < before.size(); ++m) {
      const std::vector<float> after = group.parameters(m);
      std::size_t moved = 0;
      for (std::size_t i = 0; i < after.size(); ++i) moved += before[m][i] != after[i] ? 1U : 0U;
      EXPECT_GT(moved, after.size() * 9 / 10) << policies[m / 2].name;
    }
  }
}

// A record whose gradient is not finite adds nothing, is counted once for each batch that holds it, and the count survives a checkpoint.
TEST(PrivateTraining, RecordsThatAreNotFiniteAreZeroedAndCounted) {
  for (const Network& network : {small(), convolution()}) {
    LabelledSet set = pictures(40), without = set;
    std::vector<float> values(set.count() * set.shape.size());
    for (std::uint32_t r = 0; r < set.count(); ++r) {
      standardised(set, r, std::span(values).subspan(r * set.shape.size(), set.shape.size()));
    }
    set.standardisation = without.standardisation = {};
    without.values = values;
    const Slots slots = random_slots(set, 24, 1);
    const auto bad = static_cast<std::ptrdiff_t>(slots.records[5] * set.shape.size());
    std::fill_n(values.begin() + bad, set.shape.size(), std::numeric_limits<float>::infinity());
    set.values = std::move(values);
    World absent;
    absent.changes.push_back({5, true, 0, 0});
    Training t = quick(12);
    const std::vector<NoisePolicy> policies = all_metrics(0.5, 0.3, network);
    const auto data = std::make_shared<TrainingData>(set, slots, std::vector{World{}});
    const auto emptied = std::make_shared<TrainingData>(without, slots, std::vector{absent});
    TrialGroup group(network, data, policies, t), other(network, emptied, policies, t);
    Observer observer;
    group.train_until(6, observer);
    TrialGroup again(network, data, policies, t);
    again.restore(group.state());
    again.train_until(12, observer);
    other.train_until(12, observer);
    BatchSampler sampler(t.batches, 24, t.batch_size, t.seed);
    std::uint64_t uses = 0;
    for (std::uint64_t step = 0; step < 12; ++step) {
      const auto batch = sampler.batch(step);
      uses += static_cast<std::uint64_t>(std::count(batch.begin(), batch.end(), 5U));
    }
    ASSERT_GT(uses, 0U);
    for (std::size_t p = 0; p < policies.size(); ++p) {
      EXPECT_EQ(again.models()[p].zeroed_records, uses) << policies[p].name;
      EXPECT_EQ(other.models()[p].zeroed_records, 0U) << policies[p].name;
      EXPECT_EQ(again.parameters(p), other.parameters(p)) << policies[p].name;
    }
  }
}

TEST(PrivateTraining, BitsDoNotDependOnTheGroup) {
  const Pair pair;
  for (const Network& network : {small(), convolution()}) {
    std::vector<NoisePolicy> policies = all_metrics(0.5, 0.3, network);
    for (const double clip : {0.1, 0.2, 0.3, 0.4}) {
      policies.push_back(clipped(IsotropicMetric{}, clip, 1.0));
    }
    const NoisePolicy paper{"aniso", AnisotropicNoise{{0.01}}};
    policies.insert(policies.begin() + 1, paper);
    const auto all = trained(TrialGroup(network, pair.data, policies, quick()), 40);
    for (std::size_t p = 0; p < policies.size(); ++p) {
      const auto alone = trained(TrialGroup(network, pair.data, {policies[p]}, quick()), 40);
      EXPECT_EQ(alone[0], all[2 * p]) << policies[p].name;
      EXPECT_EQ(alone[1], all[2 * p + 1]) << policies[p].name;
    }
  }
}

TEST(PrivateTraining, ResumesToTheSameBits) {
  const Pair pair;
  Training t = quick();
  t.average_last = 30;
  for (const Network& network : {small(), convolution()}) {
    for (const double momentum : {0.0, 0.9}) {
      t.momentum = momentum;
      const std::vector<NoisePolicy> policies = all_metrics(0.5, 0.3, network);
      const auto whole = trained(TrialGroup(network, pair.data, policies, t), 40);
      Observer observer;
      TrialGroup first(network, pair.data, policies, t), second(network, pair.data, policies, t);
      first.train_until(27, observer);
      second.restore(first.state());
      EXPECT_EQ(trained(std::move(second), 40), whole);
      // The state of a group with other things to remember is of another group.
      Training plain = quick();
      TrialGroup other(network, pair.data, policies, plain);
      EXPECT_THROW(other.restore(first.state()), InvalidArgument);
    }
  }
}

// From the same weights, the worlds' steps differ by at most the learning rate times the clip over the batch size, whatever the weights.
TEST(PrivateTraining, OneStepOfTheWorldsDiffersByTheClip) {
  for (const bool replace : {false, true}) {
    const Pair pair(replace);
    for (const double scale : {1.0, 100.0, 1e12}) {
      Training t = quick(1);
      t.batches = BatchScheme::full;
      t.batch_size = 24;
      t.learning_rate = 24.0;  // so that steps are sums
      const NoisePolicy policy = clipped(IsotropicMetric{}, 0.5, 1e-6);
      TrialGroup group(small(), pair.data, {policy}, t);
      GroupState state = group.state();
      for (auto& parameters : state.parameters) {
        for (float& p : parameters) p *= static_cast<float>(scale);
      }
      const std::vector<float> start = state.parameters[0];
      group.restore(std::move(state));
      Observer observer;
      group.train_until(1, observer);
      const std::vector<float> d = group.parameters(0), other = group.parameters(1);
      double square = 0.0;
      for (std::size_t i = 0; i < d.size(); ++i) {
        square += std::pow(static_cast<double>(d[i]) - static_cast<double>(other[i]), 2);
      }
      if (scale < 1e6) {  // else rounding of the weights hides it
        EXPECT_LE(std::sqrt(square), (replace ? 1.0 : 0.5) * (1.0 + 1e-4)) << scale;
        EXPECT_GT(std::sqrt(square), 0.0);
      }
      for (const float v : d) ASSERT_TRUE(std::isfinite(v));
    }
  }
}

TEST(PrivateTraining, ContributionsAreOneOverTheMultiplier) {
  for (const NoisePolicy& policy : all_metrics(0.7, 1.3)) {
    EXPECT_NEAR(policy.private_noise().contribution(small()), 1.0 / 1.3, 1e-12) << policy.name;
  }
  // Clips of layers that are each as large as the whole would not be: their squares add up.
  const PrivateNoise wrong{1.0, 1.0, PerLayerMetric{{}, {1.0, 1.0}}};
  const std::vector<double> deviations = wrong.deviations(small());
  EXPECT_GT(std::hypot(1.0 / deviations[0], 1.0 / deviations[1]), 0.99);
  EXPECT_GT(deviations[0] * deviations[1], 1.0);
}

TEST(PrivateTraining, NoiseOfAKeyHasItsDistributionAndIsNotReused) {
  const Pair pair;
  Training t = quick(2);
  t.batches = BatchScheme::full;
  t.batch_size = 24;
  t.learning_rate = 24.0;
  t.key = std::make_shared<const ReleaseKey>(ReleaseKey::from_system());
  EXPECT_TRUE(t.key->secret());
  // A clip so small that steps are noise alone, of deviation 1.
  const NoisePolicy policy = clipped(IsotropicMetric{}, 1e-6, 1e6);
  TrialGroup group(small(), pair.data, {policy}, t);
  Observer observer;
  const std::vector<float> start = group.parameters(0);
  group.train_until(1, observer);
  const std::vector<float> one = group.parameters(0);
  group.train_until(2, observer);
  const std::vector<float> two = group.parameters(0);
  double first = 0.0, both = 0.0, squares = 0.0;
  const auto n = static_cast<double>(start.size());
  for (std::size_t i = 0; i < start.size(); ++i) {
    const double a = static_cast<double>(one[i] - start[i]),
                 b = static_cast<double>(two[i] - one[i]);
    first += a;
    squares += a * a;
    both += a * b;
  }
  // 5 sigma each: false alarm 2e-6.
  EXPECT_LT(std::fabs(first), 5.0 * std::sqrt(n));
  EXPECT_LT(std::fabs(squares - n), 5.0 * std::sqrt(2.0 * n));
  EXPECT_LT(std::fabs(both), 5.0 * std::sqrt(n));
}

TEST(PrivateTraining, Refusals) {
  const Pair pair;
  const auto refused = [&](const NoisePolicy& policy, const Training& t) {
    EXPECT_THROW(TrialGroup(small(), pair.data, {policy}, t), InvalidArgument) << policy.name;
  };
  const auto with_variances = [](double clip, std::vector<float> variances) {
    return NoisePolicy{"whitened",
                       PrivateNoise{clip, 1.0, WhitenedMetric{{}, {shared(std::move(variances))}}}};
  };
  const auto all = [](float value) { return std::vector<float>(small().parameter_count(), value); };
  refused(clipped(IsotropicMetric{}, 0.0, 1.0), quick());
  refused(clipped(IsotropicMetric{}, 1.0, 0.0), quick());
  refused({"layers", PrivateNoise{1.0, 1.0, PerLayerMetric{{}, {1.0}}}}, quick());
  refused({"whitened", PrivateNoise{1.0, 1.0, WhitenedMetric{}}}, quick());
  refused(with_variances(1.0, all(0.0F)), quick());
  Training t = quick();
  t.momentum = 1.0;
  refused(clipped(IsotropicMetric{}, 1.0, 1.0), t);
  t.momentum = 0.5;
  refused({"iso", IsotropicNoise{{0.1}}}, t);
  t = quick();
  t.average_last = 41;
  refused(clipped(IsotropicMetric{}, 1.0, 1.0), t);
  refused(clipped(IsotropicMetric{}, 1e-19, 1.0), quick());  // its square is no float
  std::vector<float> shape = all(1.0F);
  shape.back() = 1e-37F;
  refused(with_variances(1.0, shape), quick());
  // Nor is what large variances are multiplied with.
  refused(with_variances(1e-20, all(1e30F)), quick());
}

/// A step of 0.4 units in the last place of a weight, and noise of 0.4: together they move it, one after the other neither does. What a record
/// contributes is rounded with its noise, not before.
TEST(PrivateTraining, NoiseIsAddedBeforeAnythingIsRounded) {
  constexpr float kUnit = 0x1p-23F;
  for (const bool noise_first : {false, true}) {
    for (const bool fixed : {false, true}) {
      std::vector<float> w(8, 1.0F);
      const std::vector<float> g(8, -0.4F * kUnit), z(16, 0.4F * kUnit), ones(16, 1.0F);
      kernel::NoisyUpdate task{
          w.data(), g.data(), 1,  8,  8,  1,          1.0F, z.data(), fixed ? ones.data() : nullptr,
          {},       {},       {}, {}, {}, noise_first};
      std::fill_n(fixed ? task.fixed_factor : task.constant, 8, 1.0F);
      kernel::noisy_update(task);
      for (const float value : w) EXPECT_EQ(value, noise_first ? 1.0F + kUnit : 1.0F);
    }
  }
}

TEST(PrivateTraining, AStepOfClippedGradientsAddsNoiseFirst) {
  constexpr float kUnit = 0x1p-23F;
  const std::size_t size = small().parameter_count();
  for (const bool clips : {false, true}) {
    Bundle bundle(small(), 1);
    bundle.set_parameters(0, std::vector<float>(size, 1.0F));
    if (clips) bundle.clip({Clipping{{1.0}}});
    bundle.add_to_gradient(0, std::vector<float>(size, -0.4F * kUnit));
    const std::vector<float> normals(size + 16, 0.4F * kUnit);
    const std::vector<NoiseScale> scales(1, NoiseScale{.constant = 1.0F});
    for (std::size_t b = 0; b < small().blocks().size(); ++b) {
      bundle.update(b, 1.0F, scales, scales, normals.data(), nullptr);
    }
    std::vector<float> after(size);
    bundle.get_parameters(0, after);
    for (const float value : after) EXPECT_EQ(value, clips ? 1.0F + kUnit : 1.0F);
  }
}

}  // namespace
}  // namespace sfumato::lab
