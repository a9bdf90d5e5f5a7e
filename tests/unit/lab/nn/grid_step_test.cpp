// Hardened steps: integers that are no longer than their bound whatever a record is, sums that do not depend on order, exact noise, and what
// the integers reveal beside what the accountant says of them.
#include "lab/nn/group/grid_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "lab/nn/network.hpp"
#include "lab/nn/private_metric.hpp"
#include "lab/nn/trial_group.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato::lab {
namespace {

Network small() { return Network({7, 1, 1}, {{"a", Linear{5}}, {"r", Relu{}}, {"b", Linear{3}}}); }

NoisePolicy policy_of(TrainingMetric metric, double multiplier) {
  if (auto* layers = std::get_if<PerLayerMetric>(&metric)) layers->clips = {0.3, 0.2};
  if (auto* whitened = std::get_if<WhitenedMetric>(&metric)) {
    std::vector<float> variances(small().parameter_count());
    for (std::size_t i = 0; i < variances.size(); ++i) {
      variances[i] = 0.1F + 0.3F * static_cast<float>(i % 7);
    }
    whitened->given = {std::make_shared<const std::vector<float>>(std::move(variances))};
  }
  return {std::string(name(metric)), PrivateNoise{0.4, multiplier, std::move(metric)}};
}

std::vector<double> deviations_of(const NoisePolicy& policy) {
  const Network network = small();
  const NoiseShape* given = shape_of(policy.rule);
  std::vector<double> deviations(network.parameter_count());
  for (std::size_t b = 0; b < network.blocks().size(); ++b) {
    const ParameterBlock& block = network.blocks()[b];
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      const double shape = given != nullptr ? given->variance(i) : 1.0;
      deviations[i] = policy.private_noise().deviations(network)[b] * std::sqrt(shape);
    }
  }
  return deviations;
}

TEST(GridSum, NoRecordIsLongerThanTheBoundWhateverItIs) {
  std::mt19937 generator(3);
  std::normal_distribution<float> normal;
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  for (const TrainingMetric& metric :
       std::vector<TrainingMetric>{IsotropicMetric{}, PerLayerMetric{}, WhitenedMetric{}}) {
    for (const double multiplier : {0.05, 1.0, 40.0}) {
      const NoisePolicy policy = policy_of(metric, multiplier);
      GridSum sum(policy, small(), 1000, 500);
      for (const float size : {1e-30F, 1e-6F, 0.01F, 1.0F, 30.0F, 1e20F, 3e38F, kInfinite}) {
        std::vector<float> gradient(small().parameter_count());
        for (float& g : gradient) g = size * normal(generator);
        sum.begin(deviations_of(policy));
        sum.add(gradient);
        EXPECT_LE(sum.integers().square().sum(), sum.grid().grid.square) << size;
        for (const double integer : sum.integers()) EXPECT_EQ(integer, std::trunc(integer));
      }
      std::vector<float> nan(small().parameter_count(), 0.01F);
      nan[3] = std::numeric_limits<float>::quiet_NaN();
      sum.begin(deviations_of(policy));
      sum.add(nan);
      EXPECT_EQ(sum.integers().abs().maxCoeff(), 0.0);
    }
  }
}

// The exact delta of integers as far apart as records can move them, with the grid's own noise, is within the accountant's guarantee.
TEST(GridSum, RevealsNoMoreThanTheAccountantSays) {
  for (const double multiplier : {0.1, 0.2}) {
    const GridSum sum(policy_of(IsotropicMetric{}, multiplier), small(), 1000, 500);
    const auto longest = static_cast<std::int64_t>(std::floor(std::sqrt(sum.grid().grid.square)));
    Accountant accountant(NeighbouringRelation::zero_out);
    accountant.compose({GaussianNoise{multiplier}, Sampler::full, 1.0, 1});
    const double square = 1.0 / (multiplier * multiplier);  // of mu
    for (const double eps : {0.0, 0.25 * square, 0.5 * square}) {
      const double exact =
          discrete_gaussian_delta(static_cast<double>(sum.grid().deviation), longest, eps).exact;
      EXPECT_LE(exact, accountant.delta(Epsilon(eps)).upper.value * (1.0 + 1e-9)) << multiplier;
      EXPECT_GE(exact, 0.99 * accountant.delta(Epsilon(eps)).upper.value) << multiplier;
    }
  }
}

TEST(GridSum, ReleasesTheSumAndExactlyTheNoiseOfItsBits) {
  const NoisePolicy policy = policy_of(PerLayerMetric{}, 1.5);
  const std::vector<double> deviations = deviations_of(policy);
  GridSum sum(policy, small(), 100, 10);
  std::vector<float> gradient(deviations.size(), 0.004F), noisy(deviations.size());
  sum.begin(deviations);
  for (int r = 0; r < 9; ++r) sum.add(gradient);
  const Eigen::ArrayXd integers = sum.integers();
  const ReleaseKey key = ReleaseKey::from_seed(8);
  ReleaseBits bits(key, 4), again(key, 4);
  sum.release(bits, 0.25, noisy);
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    const double integer = integers(static_cast<Eigen::Index>(i)) +
                           static_cast<double>(draw_discrete_gaussian(sum.grid().deviation, again));
    EXPECT_EQ(noisy[i],
              static_cast<float>(integer * deviations[i] * (0.25 / sum.grid().grid.per_unit)));
    EXPECT_NEAR(integers(static_cast<Eigen::Index>(i)) * deviations[i] / sum.grid().grid.per_unit,
                9.0 * 0.004, 9.0 * 0.5 * deviations[i] / sum.grid().grid.per_unit);
  }
}

struct Hardened {
  LabelledSet set;

  Hardened() {
    std::mt19937 generator(11);
    std::normal_distribution<float> normal;
    set.name = "records";
    set.shape = {7, 1, 1};
    set.classes = 3;
    std::vector<float> values(7 * 30);
    for (float& v : values) v = normal(generator);
    set.values = std::move(values);
    for (std::size_t r = 0; r < 30; ++r) set.labels.push_back(static_cast<std::uint8_t>(r % 3));
  }
  [[nodiscard]] static Training training() {
    Training training;
    training.batches = BatchScheme::full;
    training.batch_size = 30;
    training.iterations = 12;
    training.hardened = true;
    training.key = std::make_shared<ReleaseKey>(ReleaseKey::from_seed(2));
    return training;
  }
  /// The models of these policies after training on the records in that order.
  [[nodiscard]] std::vector<std::vector<float>> trained(const std::vector<std::uint32_t>& order,
                                                        const std::vector<NoisePolicy>& policies,
                                                        const Training& training) const {
    Slots slots{order, {}};
    for (const std::uint32_t record : order) slots.labels.push_back(set.labels[record]);
    TrialGroup group(small(), std::make_shared<TrainingData>(set, slots, std::vector{World{}}),
                     policies, training);
    Observer observer;
    group.train_until(training.iterations, observer);
    std::vector<std::vector<float>> models;
    for (std::size_t m = 0; m < policies.size(); ++m) models.push_back(group.parameters(m));
    return models;
  }
};

TEST(HardenedTraining, IsTheSameToTheBitInAnyOrderOfRecords) {
  const Hardened hardened;
  std::vector<std::uint32_t> order(30);
  for (std::uint32_t r = 0; r < 30; ++r) order[r] = r;
  std::vector<NoisePolicy> policies = {
      policy_of(IsotropicMetric{}, 1.0), policy_of(PerLayerMetric{}, 1.0),
      policy_of(WhitenedMetric{}, 1.0), policy_of(ReleasedGradientsMetric{}, 1.0)};
  const auto first = hardened.trained(order, policies, Hardened::training());
  std::mt19937 generator(1);
  std::shuffle(order.begin(), order.end(), generator);
  EXPECT_EQ(hardened.trained(order, policies, Hardened::training()), first);
  // A model does not depend on the others in the group either, and the key alone decides.
  EXPECT_EQ(hardened.trained(order, {policies[2]}, Hardened::training()).front(), first[2]);
  Training other = Hardened::training();
  other.key = std::make_shared<ReleaseKey>(ReleaseKey::from_seed(3));
  EXPECT_NE(hardened.trained(order, policies, other), first);
}

// Without noise to speak of, hardened steps are the float engine's steps up to the grid.
TEST(HardenedTraining, FollowsTheEngineWhereNoiseIsSmall) {
  const Hardened hardened;
  std::vector<std::uint32_t> order(30);
  for (std::uint32_t r = 0; r < 30; ++r) order[r] = r;
  for (const TrainingMetric& metric : std::vector<TrainingMetric>{
           IsotropicMetric{}, PerLayerMetric{}, WhitenedMetric{}, ReleasedGradientsMetric{}}) {
    for (const double momentum : {0.0, 0.9}) {
      const std::vector<NoisePolicy> policies = {policy_of(metric, 1e-4)};
      Training training = Hardened::training();
      training.momentum = momentum;
      const std::vector<float> exact = hardened.trained(order, policies, training).front();
      training.hardened = false;
      const std::vector<float> plain = hardened.trained(order, policies, training).front();
      for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_NEAR(exact[i], plain[i], 2e-3F) << name(metric);
      }
    }
  }
}

// The deviation of the noise of 12 steps without learning signal: 58 x 12 draws of variance 1; 7 deviations of the mean square are 0.38.
TEST(HardenedTraining, HasTheNoiseOfItsMultiplier) {
  const NoisePolicy policy = policy_of(IsotropicMetric{}, 2.0);
  GridSum sum(policy, small(), 10, 12);
  double square = 0.0, count = 0.0;
  const ReleaseKey key = ReleaseKey::from_seed(5);
  for (std::uint64_t step = 0; step < 12; ++step) {
    std::vector<float> noisy(small().parameter_count());
    sum.begin(deviations_of(policy));
    ReleaseBits bits(key, 2 * step);
    sum.release(bits, 1.0, noisy);
    for (const float n : noisy) square += std::pow(static_cast<double>(n) / (2.0 * 0.4), 2);
    count += static_cast<double>(noisy.size());
  }
  EXPECT_NEAR(square / count, 1.0, 7.0 * std::sqrt(2.0 / count));
}

TEST(HardenedTraining, RefusesWhatItCannotHarden) {
  const Hardened hardened;
  const std::vector<std::uint32_t> order = {0, 1, 2};
  Training training = Hardened::training();
  training.batch_size = 3;
  const std::vector<NoisePolicy> policies = {policy_of(IsotropicMetric{}, 1.0)};
  EXPECT_NO_THROW((void)hardened.trained(order, policies, training));
  Training no_key = training;
  no_key.key = nullptr;
  EXPECT_THROW((void)hardened.trained(order, policies, no_key), InvalidArgument);
  Training canary = training;
  canary.canary_slots = {0};
  EXPECT_THROW((void)hardened.trained(order, policies, canary), InvalidArgument);
  NoisePolicy none;
  none.name = "none";
  EXPECT_THROW((void)hardened.trained(order, {none}, training), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
