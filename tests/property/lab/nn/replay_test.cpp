// Replay of private steps: D and D' from the same state with the same randomness. What a record changes in the sum before noise is at most its
// clip in the declared norm, for every metric, over random and adversarial models, records and batches. Then the mistakes that such a check
// must catch, each made with the engine itself.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "lab/nn/gradient_moments.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/private_metric.hpp"
#include "lab/nn/trial_group.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato::lab {
namespace {

constexpr double kMultiplier = 0.5;
constexpr std::size_t kSlots = 12;
constexpr std::uint64_t kStep = 40;  // behind the warm-up of the released metric

Network mlp() { return Network({9, 1, 1}, {{"a", Linear{6}}, {"r", Relu{}}, {"b", Linear{3}}}); }
Network convolutional() {
  return Network({1, 6, 6}, {{"c", Conv2d{3, 3}},
                             {"t", Tanh{}},
                             {"p", MaxPool2d{2}},
                             {"f", Flatten{}},
                             {"l", Linear{3}}});
}

/// Records of very different sizes; the last ones are extreme.
LabelledSet records(const Network& network, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  LabelledSet set;
  set.name = "records";
  set.shape = {static_cast<int>(network.input().channels), static_cast<int>(network.input().height),
               static_cast<int>(network.input().width)};
  set.classes = 3;
  std::vector<float> values;
  for (std::size_t r = 0; r < kSlots + 6; ++r) {
    float size = std::exp(1.5F * normal(generator));
    if (r >= kSlots) size = std::pow(10.0F, static_cast<float>(3 * (r - kSlots)) - 6.0F);
    for (std::size_t i = 0; i < set.shape.size(); ++i) values.push_back(size * normal(generator));
    set.labels.push_back(static_cast<std::uint8_t>(generator() % 3));
  }
  set.values = std::move(values);
  return set;
}

NoisePolicy private_policy(TrainingMetric metric, const Network& network, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> drawn(network.parameter_count());
  for (float& v : drawn) v = std::exp(normal(generator));
  const auto variances = std::make_shared<const std::vector<float>>(std::move(drawn));
  std::visit(
      Overloaded{[&](PerLayerMetric& own) { own.clips.assign(network.blocks().size(), 0.4); },
                 [&](WhitenedMetric& own) { own.given = {variances}; },
                 [&](LowRankMetric& own) {
                   own.given = {variances,
                                std::make_shared<const std::vector<std::vector<float>>>(
                                    2, std::vector<float>(network.parameter_count(), 0.3F))};
                 },
                 [](InputMomentsMetric& own) { own.mu = 1.0; }, [](auto&) {}},
      metric);
  return {std::string(name(metric)), PrivateNoise{0.7, kMultiplier, std::move(metric)}};
}

/// A step of learning rate 1 on sums, so that what moves is the noisy sum itself.
Training one_step(BatchScheme batches, std::uint64_t seed) {
  Training training;
  training.batches = batches;
  training.batch_size = batches == BatchScheme::full ? kSlots : 7;
  training.loss = LossScale::sum;
  training.learning_rate = 1.0;
  training.iterations = 100;
  training.seed = seed;
  return training;
}

/// D and D'.
struct Worlds {
  LabelledSet set;
  Slots slots;
  std::shared_ptr<const TrainingData> data;

  Worlds(const Network& network, unsigned seed, bool replace) : set(records(network, seed)) {
    slots = random_slots(set, kSlots, seed);
    World other;
    const auto slot = static_cast<std::uint32_t>(seed % kSlots);
    std::uint32_t outside = 0;
    while (std::find(slots.records.begin(), slots.records.end(), outside) != slots.records.end()) {
      ++outside;
    }
    other.changes.push_back({slot, !replace, replace ? outside : 0U, 2});
    data = std::make_shared<TrainingData>(set, slots, std::vector{World{}, other});
  }
};

/// Where all worlds stand before the step: the same weights and, for `released`, the same moments.
GroupState common_state(const TrialGroup& group, const Network& network, unsigned seed,
                        float weight_scale) {
  GroupState state = group.state();
  std::vector<float> weights = initial_parameters(network, seed);
  for (float& w : weights) w *= weight_scale;
  for (auto& parameters : state.parameters) parameters = weights;
  GradientMoments moments(network.parameter_count());
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> gradient(network.parameter_count()), noise(gradient.size(), 0.01);
  for (double& g : gradient) g = normal(generator);
  moments.add(gradient, noise);
  for (auto& saved : state.moments) {
    if (!saved.empty()) saved = moments.state();
  }
  state.step = kStep;
  return state;
}

std::vector<double> noise_deviations(const NoisePolicy& policy, const Network& network,
                                     const GroupState& state) {
  std::vector<float> shape(network.parameter_count(), 1.0F);
  if (const NoiseShape* given = shape_of(policy.rule)) shape = *given->variances;
  if (policy.private_noise().learns()) {
    GradientMoments moments(network.parameter_count());
    moments.restore(state.moments.front());
    shape = moments.shape();
  }
  const std::vector<double> by_block = policy.private_noise().deviations(network);
  std::vector<double> deviations(network.parameter_count());
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    const ParameterBlock& block = network.blocks()[b];
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      deviations[i] = by_block[b] * std::sqrt(static_cast<double>(shape[i]));
    }
  }
  return deviations;
}

/// What D has more than D' in the sum before noise, from where the worlds stand after a step.
std::vector<double> change(const GroupState& after) {
  std::vector<double> result(after.parameters[0].size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] =
        static_cast<double>(after.parameters[1][i]) - static_cast<double>(after.parameters[0][i]);
  }
  return result;
}

/// The change over what the accountant counts on: 1 at most. In deviations of the noise, times the noise multiplier.
double over_bound(const std::vector<double>& change, const std::vector<double>& deviations,
                  double records) {
  double square = 0.0;
  for (std::size_t i = 0; i < change.size(); ++i) square += std::pow(change[i] / deviations[i], 2);
  return std::sqrt(square) * kMultiplier / records;
}

double replayed(const Network& network, const NoisePolicy& policy, const Training& training,
                unsigned seed, bool replace, float weight_scale) {
  const Worlds worlds(network, seed, replace);
  TrialGroup group(network, worlds.data, {policy}, training);
  const GroupState before = common_state(group, network, seed, weight_scale);
  group.restore(before);
  Observer observer;
  group.train_until(kStep + 1, observer);
  return over_bound(change(group.state()), noise_deviations(policy, network, before),
                    replace ? 2.0 : 1.0);
}

// Weights are at most about 10, sums a few: rounding of the parameters moves a change by 1e-6 of its bound at most in each of 200 coordinates.
TEST(Replay, OneRecordChangesTheSumBeforeNoiseByItsClipAtMost) {
  double largest = 0.0;
  unsigned seed = 1;
  for (const Network& network : {mlp(), convolutional()}) {
    for (const TrainingMetric& metric : std::vector<TrainingMetric>{
             IsotropicMetric{}, PerLayerMetric{}, WhitenedMetric{}, LowRankMetric{},
             ReleasedGradientsMetric{}, InputMomentsMetric{}}) {
      for (const BatchScheme batches :
           {BatchScheme::full, BatchScheme::poisson, BatchScheme::fixed_size}) {
        for (const float weight_scale : {1.0F, 0.01F, 8.0F}) {
          for (const bool replace : {false, true}) {
            SCOPED_TRACE(std::string(name(metric)) + ", seed " + std::to_string(++seed));
            const NoisePolicy policy = private_policy(metric, network, seed);
            const double over =
                replayed(network, policy, one_step(batches, seed), seed, replace, weight_scale);
            EXPECT_LE(over, 1.0 + 2e-4);
            largest = std::max(largest, over);
          }
        }
      }
    }
  }
  EXPECT_GT(largest, 0.99);  // and the bound is attained
}

/// The largest of some replays with the full batch.
template <class Try>
double worst_of(const Try& attempt) {
  double worst = 0.0;
  for (unsigned seed = 1; seed <= 6; ++seed) worst = std::max(worst, attempt(seed));
  return worst;
}

TEST(Replay, CatchesAClipOfEachTensorAccountedAsOneOfAll) {
  const Network network = mlp();
  const auto attempt = [&](double layer_clip) {
    return worst_of([&](unsigned seed) {
      NoisePolicy trained = private_policy(PerLayerMetric{}, network, seed);
      std::get<PerLayerMetric>(trained.private_noise().metric).clips.assign(2, layer_clip);
      const NoisePolicy declared = private_policy(IsotropicMetric{}, network, seed);
      const Worlds worlds(network, seed, false);
      TrialGroup group(network, worlds.data, {trained}, one_step(BatchScheme::full, seed));
      group.restore(common_state(group, network, seed, 1.0F));
      Observer observer;
      group.train_until(kStep + 1, observer);
      return over_bound(change(group.state()), noise_deviations(declared, network, {}), 1.0);
    });
  };
  EXPECT_GT(attempt(0.7), 1.2);
  EXPECT_LE(attempt(0.7 / std::sqrt(2.0)), 1.0 + 1e-4);
}

// Seven records pull one way, the eighth the other: means over those that are there differ by more than clip / 8.
TEST(Replay, CatchesDivisionByTheActualSizeOfABatch) {
  const Network network({2, 1, 1}, {{"l", Linear{2}}});
  LabelledSet set;
  set.name = "opposed";
  set.shape = {2, 1, 1};
  set.classes = 2;
  std::vector<float> values;
  for (std::size_t r = 0; r < 8; ++r) {
    values.insert(values.end(), {3.0F, -2.0F});
    set.labels.push_back(r == 7 ? 1 : 0);
  }
  set.values = std::move(values);
  const NoisePolicy policy = private_policy(IsotropicMetric{}, network, 1);
  Training training = one_step(BatchScheme::full, 1);
  training.loss = LossScale::mean;
  const auto moved = [&](std::size_t slots, bool without_last) {
    training.batch_size = slots;
    Slots of{{}, {}};
    World world, nobody;
    for (std::uint32_t s = 0; s < slots; ++s) {
      of.records.push_back(s);
      of.labels.push_back(set.labels[s]);
      nobody.changes.push_back({s, true, 0, 0});
    }
    if (without_last) world.changes.push_back({7, true, 0, 0});
    TrialGroup group(network, std::make_shared<TrainingData>(set, of, std::vector{nobody, world}),
                     {policy}, training);
    GroupState state = group.state();
    for (auto& parameters : state.parameters) std::fill(parameters.begin(), parameters.end(), 0.0F);
    group.restore(state);
    Observer observer;
    group.train_until(1, observer);
    return change(group.state());  // of the mean, noise taken off
  };
  const std::vector<double> d = moved(8, false), nominal = moved(8, true), actual = moved(7, false);
  double by_nominal = 0.0, by_actual = 0.0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    by_nominal += std::pow(8.0 * (d[i] - nominal[i]), 2);
    by_actual += std::pow(8.0 * (d[i] - actual[i]), 2);
  }
  EXPECT_NEAR(std::sqrt(by_nominal), policy.private_noise().clip, 1e-4);
  EXPECT_GT(std::sqrt(by_actual), 1.5 * policy.private_noise().clip);
}

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return ab / std::sqrt(aa * bb);
}

// Independent noise of d = 7,960 parameters correlates by 1 / sqrt(d) or so; seven of them are a false alarm of 3e-12.
TEST(Replay, CatchesNoiseThatIsReusedBetweenSteps) {
  const Network network = preset_network("mlp-10");
  LabelledSet set;
  set.name = "blank";
  set.shape = {1, 28, 28};
  set.classes = 10;
  set.values = std::vector<float>(2 * 784, 0.5F);
  set.labels = {0, 1};
  const Slots slots{{0, 1}, {0, 1}};
  World nobody{{{0, true, 0, 0}, {1, true, 0, 0}}};
  const auto data = std::make_shared<TrainingData>(set, slots, std::vector{nobody});
  for (const bool with_key : {false, true}) {
    for (const bool hardened : {false, true}) {
      if (hardened && !with_key) continue;
      Training training = one_step(BatchScheme::full, 5);
      training.batch_size = 2;
      training.hardened = hardened;
      if (with_key) training.key = std::make_shared<ReleaseKey>(ReleaseKey::from_seed(3));
      TrialGroup group(network, data, {private_policy(IsotropicMetric{}, network, 1)}, training);
      Observer observer;
      const auto noise_of = [&](std::uint64_t step) {
        GroupState state = group.state();
        std::fill(state.parameters[0].begin(), state.parameters[0].end(), 0.0F);
        state.step = step;
        group.restore(state);
        group.train_until(step + 1, observer);
        return group.parameters(0);
      };
      const std::vector<float> first = noise_of(0);
      const double limit = 7.0 / std::sqrt(static_cast<double>(first.size()));
      for (const std::uint64_t step : {1U, 2U, 64U}) {
        EXPECT_LT(std::fabs(correlation(first, noise_of(step))), limit) << step;
      }
      EXPECT_GT(correlation(first, noise_of(0)), limit);  // a step that is made twice
    }
  }
}

// Noise first, then the clip: what is added before is not bounded by anything.
TEST(Replay, CatchesAClipThatComesAfterTheNoise) {
  const Network network = mlp();
  const double over = worst_of([&](unsigned seed) {
    NoisePolicy unclipped;
    unclipped.name = "none";
    const NoisePolicy declared = private_policy(IsotropicMetric{}, network, seed);
    const Worlds worlds(network, seed, false);
    TrialGroup group(network, worlds.data, {unclipped}, one_step(BatchScheme::full, seed));
    group.restore(common_state(group, network, seed, 1.0F));
    Observer observer;
    group.train_until(kStep + 1, observer);
    return over_bound(change(group.state()), noise_deviations(declared, network, {}), 1.0);
  });
  EXPECT_GT(over, 1.5);
}

// A metric that follows each world's own gradients: clip and noise are then not the same function in D and D'.
TEST(Replay, CatchesAMetricThatIsEstimatedFromPrivateGradients) {
  const Network network = mlp();
  const auto attempt = [&](bool private_moments) {
    return worst_of([&](unsigned seed) {
      const NoisePolicy policy = private_policy(ReleasedGradientsMetric{}, network, seed);
      const Worlds worlds(network, seed, false);
      TrialGroup group(network, worlds.data, {policy}, one_step(BatchScheme::full, seed));
      GroupState state = common_state(group, network, seed, 1.0F);
      if (private_moments) {
        TrialGroup plain(network, worlds.data, {[] {
                           NoisePolicy none;
                           none.name = "none";
                           return none;
                         }()},
                         one_step(BatchScheme::full, seed));
        GroupState at = common_state(plain, network, seed, 1.0F);
        const std::vector<float> weights = at.parameters[0];
        plain.restore(at);
        Observer observer;
        plain.train_until(kStep + 1, observer);
        for (std::size_t w = 0; w < 2; ++w) {
          const std::vector<float> after = plain.parameters(w);
          std::vector<double> gradient(after.size()), noise(after.size(), 1e-6);
          for (std::size_t i = 0; i < after.size(); ++i) {
            gradient[i] = static_cast<double>(weights[i]) - static_cast<double>(after[i]);
          }
          GradientMoments moments(network.parameter_count());
          moments.add(gradient, noise);
          state.moments[w] = moments.state();
        }
      }
      group.restore(state);
      Observer observer;
      group.train_until(kStep + 1, observer);
      return over_bound(change(group.state()), noise_deviations(policy, network, state), 1.0);
    });
  };
  EXPECT_GT(attempt(true), 1.5);
  EXPECT_LE(attempt(false), 1.0 + 2e-4);
}

}  // namespace
}  // namespace sfumato::lab
