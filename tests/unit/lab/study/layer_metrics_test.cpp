// The metric `input` of every layer: budget, coordinates, and what a record can change in what is released, whatever it is.
#include "lab/study/layer_metrics.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/network.hpp"
#include "lab/study/second_moments.hpp"
#include "lab/study/training_guarantee.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {
namespace {

constexpr std::uint64_t kSeed = 3;

Network perceptron() {
  return {{6, 1, 1},
          {{"a", Linear{5}}, {"t", Tanh{}}, {"b", Linear{4}}, {"r", Relu{}}, {"c", Linear{3}}}};
}
Network convolutional() {
  return {{2, 7, 6},
          {{"c1", Conv2d{4, 3, 1, 1}},
           {"t1", Tanh{}},
           {"p1", MaxPool2d{2}},
           {"c2", Conv2d{5, 2, 1, 1}},
           {"t2", Tanh{}},
           {"f", Flatten{}},
           {"out", Linear{3}}}};
}

/// Records whose coordinates differ in size; the last ones are extreme.
LabelledSet records(const Network& network, std::size_t count) {
  const Shape& in = network.input();
  LabelledSet set{"records", {in.channels, in.height, in.width}, 3, {}, {}, {}, {}, {}};
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  const std::vector<float> extreme = {0.0F,          1e-30F, 1e10F,
                                      1e30F,         3e38F,  std::numeric_limits<float>::infinity(),
                                      std::nanf(""), -1e38F};
  for (std::size_t r = 0; r < count + extreme.size(); ++r) {
    for (std::size_t i = 0; i < set.shape.size(); ++i) {
      const float size = r < count ? 1.0F + static_cast<float>(i % 3) : extreme[r - count];
      values.push_back(size * normal(generator));
    }
    set.labels.push_back(static_cast<std::uint8_t>(r % 3));
  }
  set.values = std::move(values);
  return set;
}

InputMomentsMetric everywhere(double mu, double floor = 1.0) {
  return {{}, mu, floor, 0.0, MetricLayers::all};
}

/// The first `count` records, which are moderate, in slots.
Slots first_slots(const LabelledSet& set, std::size_t count) {
  Slots slots;
  for (std::uint32_t r = 0; r < count; ++r) {
    slots.records.push_back(r);
    slots.labels.push_back(set.labels[r]);
  }
  return slots;
}

struct Released {
  LayerMetrics metrics;
  std::shared_ptr<const TrainingData> data;
};

/// All metrics of D, or those that `known` leaves to be released in another world.
Released release(const Network& network, const LabelledSet& set, const Slots& slots,
                 const World& world, const InputMomentsMetric& metric,
                 NeighbouringRelation relation, const LayerMetrics& known = {}) {
  Observer observer;
  ReleaseBits bits(ReleaseKey::from_seed(1));
  const ReleaseNoise noise{relation, NoiseMode::gaussian, bits};
  Released released{known, {}};
  if (known.empty()) {
    released.metrics.push_back(
        release_input_metric(network, {set, slots, world}, metric, noise, observer));
  }
  released.data = std::make_shared<const TrainingData>(
      whitened(network, set, released.metrics.front()), slots, std::vector{world});
  release_deeper_metrics(network, initial_parameters(network, kSeed), *released.data, metric, noise,
                         observer, released.metrics);
  return released;
}

TEST(LayerMetrics, SquaresOfTheCostsAddUp) {
  for (const Network& network : {perceptron(), convolutional(), preset_network("lenet")}) {
    const std::vector<double> mus = moment_mus(everywhere(0.7), network);
    ASSERT_EQ(mus.size(), network.blocks().size());
    double squares = 0.0;
    for (const double mu : mus) squares += mu * mu;
    EXPECT_LE(squares, 0.7 * 0.7);
    EXPECT_GE(squares, 0.7 * 0.7 * (1.0 - 1e-9));
    // As the accountant has it: every layer's release by itself costs no more than the one that is accounted for.
    Accountant apart(NeighbouringRelation::zero_out), together(NeighbouringRelation::zero_out);
    for (const double mu : mus) {
      apart.compose(release_of_moments(mu, NeighbouringRelation::zero_out));
    }
    together.compose(release_of_moments(0.7, NeighbouringRelation::zero_out));
    const double one = together.epsilon(Delta(1e-5)).upper.value;
    EXPECT_LE(apart.epsilon(Delta(1e-5)).lower.value, one);
    EXPECT_NEAR(apart.epsilon(Delta(1e-5)).upper.value, one, 1e-6);
  }
  InputMomentsMetric first = everywhere(0.7);
  first.layers = MetricLayers::first;
  EXPECT_EQ(moment_mus(first, perceptron()), std::vector{0.7});
}

std::vector<double> values_of(const LabelledSet& set, std::uint32_t record) {
  std::vector<float> planes(set.shape.size());
  standardised(set, record, planes);
  const auto channels = static_cast<std::size_t>(set.shape.channels);
  const std::size_t plane = planes.size() / channels;
  std::vector<double> pixels(planes.size());
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t p = 0; p < plane; ++p) {
      pixels[p * channels + c] = static_cast<double>(planes[c * plane + p]);
    }
  }
  return pixels;
}

// The Kronecker form by brute force: with G the gradient of a record in the weights root W of a layer, that in W is root G. Clipped by the norm of all
// layers together, they add up to what the whitened network's clipped gradient is. Logits are those of the network itself.
TEST(LayerMetrics, ClippedGradientsAreTheRootTimesThoseOfTheNetwork) {
  for (const Network& network : {perceptron(), convolutional()}) {
    const LabelledSet set = records(network, 40);
    const Slots slots = first_slots(set, 40);
    const Released released =
        release(network, set, slots, {}, everywhere(0.5), NeighbouringRelation::zero_out);
    const LayerMetrics& metrics = released.metrics;
    const Network inside = whitened_network(network, metrics);
    ASSERT_EQ(inside.parameter_count(), network.parameter_count());
    const LabelledSet features = whitened(network, set, metrics.front());
    const std::vector<float> start = initial_parameters(network, kSeed);
    const std::vector<float> outside = unwhitened(network, start, metrics);
    const std::vector<double> w(start.begin(), start.end()), v(outside.begin(), outside.end());
    const double clip = 0.4;
    std::vector<double> wanted(w.size());
    std::vector<std::vector<double>> inputs;
    std::vector<LabelledRecord> moved;
    inputs.reserve(10);
    for (std::uint32_t r = 0; r < 10; ++r) {
      const std::vector<double> record = values_of(set, r);
      RecordGradient found = record_gradient(network, v, {record, set.labels[r]});
      double squares = 0.0;
      for (std::size_t b = 0; b < network.blocks().size(); ++b) {
        const ParameterBlock& block = network.blocks()[b];
        using Weights = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        Eigen::Map<Weights> gradient(found.gradient.data() + block.offset,
                                     static_cast<Eigen::Index>(block.inputs),
                                     static_cast<Eigen::Index>(block.outputs));
        gradient = (metrics[b].root * gradient).eval();
      }
      for (const double g : found.gradient) squares += g * g;
      const double factor = std::min(1.0, clip / std::sqrt(squares));
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += factor * found.gradient[i];
      inputs.push_back(values_of(features, r));
      moved.push_back({inputs.back(), set.labels[r]});
      const RecordGradient same = record_gradient(inside, w, moved.back());
      for (std::size_t c = 0; c < same.logits.size(); ++c) {
        EXPECT_NEAR(same.logits[c], found.logits[c], 1e-4 * (1.0 + std::fabs(found.logits[c])));
      }
    }
    const ClippedSum sum = clipped_gradient(inside, w, moved, {{clip}});
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      error += std::pow(sum.sum[i] - wanted[i], 2);
      size += wanted[i] * wanted[i];
    }
    EXPECT_LT(std::sqrt(error), 1e-4 * std::sqrt(size));
  }
}

// The metric is a function of S~ alone, so that with little noise its root tells the moments. Those of a layer, given the metrics before it, move by
// at most bound^2 where a slot is emptied and by sqrt 2 of that where it holds another record; bound^2 follows from the noise.
TEST(LayerMetrics, ARecordChangesTheMomentsOfALayerByTheBoundAtMost) {
  const double mu = 1e6;
  double largest = 0.0;
  for (const Network& network : {perceptron(), convolutional()}) {
    const std::size_t count = 70;  // more than a block
    const LabelledSet set = records(network, count);
    const Slots slots = first_slots(set, count);
    const InputMomentsMetric policy = everywhere(mu, 1e3);
    for (const bool replace : {false, true}) {
      const NeighbouringRelation relation =
          replace ? NeighbouringRelation::replace_one : NeighbouringRelation::zero_out;
      const Released d = release(network, set, slots, {}, policy, relation);
      const std::vector<double> mus = moment_mus(policy, network);
      for (std::uint32_t other = replace ? 70 : 0; other < (replace ? 78U : 8U); ++other) {
        World world;
        world.changes = {SlotChange{other % 8 * 9, !replace, other, 1}};
        for (std::size_t block = 1; block < network.blocks().size(); ++block) {
          const LayerMetrics before(d.metrics.begin(),
                                    d.metrics.begin() + static_cast<std::ptrdiff_t>(block));
          const Released changed = release(network, set, slots, world, policy, relation, before);
          const auto moments = [&](const InputMetric& metric) {
            const Eigen::MatrixXd inverse = (metric.root * metric.root).inverse();
            return Eigen::MatrixXd(static_cast<double>(count) *
                                   (inverse - metric.ridge * Eigen::MatrixXd::Identity(
                                                                 inverse.rows(), inverse.cols())));
          };
          const InputMetric &one = d.metrics[block], &two = changed.metrics[block];
          ASSERT_EQ(one.noise_std, two.noise_std);  // the bound is public
          const double sensitivity = one.noise_std * mus[block];
          const double change = (moments(one) - moments(two)).norm() / sensitivity;
          EXPECT_LE(change, 1.0 + 1e-5) << block << " " << other;
          largest = std::max(largest, change);
        }
      }
    }
  }
  EXPECT_GT(largest, 0.3);  // a check that can fail
}

// Steps of D and D' in the metric of D, from the same state with the same noise: sums of clipped gradients differ by the clip at most, and the
// records that are not finite in some layer count nothing.
TEST(LayerMetrics, ARecordChangesASumOfGradientsByTheClipAtMost) {
  for (const Network& network : {perceptron(), convolutional()}) {
    const std::size_t count = 12;
    const LabelledSet set = records(network, count);
    const Slots slots = first_slots(set, count);
    const PrivateNoise noise{0.5, 1.0, everywhere(0.5)};
    const Released d =
        release(network, set, slots, {}, everywhere(0.5), NeighbouringRelation::replace_one);
    const LabelledSet features = whitened(network, set, d.metrics.front());
    for (std::uint32_t other = 12; other < 20; ++other) {
      for (const bool empty : {false, true}) {
        World world;
        world.changes = {SlotChange{other % 12, empty, other, 2}};
        Training training;
        training.batches = BatchScheme::full;
        training.batch_size = count;
        training.loss = LossScale::sum;
        training.learning_rate = 1.0;
        training.iterations = 1;
        training.seed = kSeed;
        TrialGroup group(
            whitened_network(network, d.metrics),
            std::make_shared<const TrainingData>(features, slots, std::vector{World{}, world}),
            {NoisePolicy{"input", noise}}, training);
        Observer observer;
        group.train_until(1, observer);
        const std::vector<float> one = group.parameters(0), two = group.parameters(1);
        double squares = 0.0;
        for (std::size_t i = 0; i < one.size(); ++i) {
          squares += std::pow(static_cast<double>(one[i]) - static_cast<double>(two[i]), 2);
        }
        EXPECT_LE(std::sqrt(squares), (empty ? 1.0 : 2.0) * noise.clip * (1.0 + 1e-4)) << other;
        EXPECT_GT(squares, 0.0);
      }
    }
  }
}

TEST(LayerMetrics, DeeperMetricsFollowTheFirstAndRefuseWhatTheyCannotDo) {
  const Network network = convolutional();
  const LabelledSet set = records(network, 30);
  const Slots slots = first_slots(set, 30);
  InputMomentsMetric policy = everywhere(0.5);
  const Released all = release(network, set, slots, {}, policy, NeighbouringRelation::zero_out);
  ASSERT_EQ(all.metrics.size(), 3U);
  EXPECT_EQ(all.metrics[1].root.rows(), 16);
  policy.layers = MetricLayers::first;
  EXPECT_EQ(release(network, set, slots, {}, policy, NeighbouringRelation::zero_out).metrics.size(),
            1U);
  policy.layers = MetricLayers::all;
  Observer observer;
  ReleaseBits bits(ReleaseKey::from_seed(1));
  LayerMetrics first = {all.metrics.front()};
  EXPECT_THROW(release_deeper_metrics(
                   network, initial_parameters(network, kSeed), *all.data, policy,
                   {NeighbouringRelation::zero_out, NoiseMode::grid, bits}, observer, first),
               InvalidArgument);
  // Weights of zero let nothing through.
  const std::vector<float> nothing(network.parameter_count());
  EXPECT_THROW(release_deeper_metrics(network, nothing, *all.data, policy,
                                      {NeighbouringRelation::zero_out, NoiseMode::gaussian, bits},
                                      observer, first),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
