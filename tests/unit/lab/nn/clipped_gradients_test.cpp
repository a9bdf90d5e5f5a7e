// Clipped gradients of the fast engine against the double-precision reference, for every kind of layer and norm; what one record can change
// in a sum at most, whatever it is; and gradients that are not finite.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>

#include "lab/nn/bundle.hpp"
#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {
namespace {

struct Batch {
  std::vector<std::vector<float>> values;
  std::vector<const float*> inputs;
  std::vector<std::uint8_t> labels;

  Batch(const Network& network, std::size_t rows, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (std::size_t r = 0; r < rows; ++r) {
      std::vector<float> row(network.input().size());
      const float size = std::exp(normal(generator));
      for (float& v : row) v = size * normal(generator);
      add(row, generator() % network.classes());
    }
  }
  void add(std::vector<float> row, std::size_t label) {
    row.resize(row.size() + 8);  // kernels may read a vector past the end of a record
    values.push_back(std::move(row));
    labels.push_back(static_cast<std::uint8_t>(label));
    inputs.push_back(values.back().data());  // which moves with its vector
  }
  [[nodiscard]] std::size_t count() const { return labels.size(); }
  [[nodiscard]] BatchRows rows(const std::vector<float>& weights) const {
    return {{inputs.size(), inputs.data()}, labels.data(), weights.data()};
  }
};

/// A map without parameters, of random entries.
FixedMap random_map(std::size_t width, std::optional<Conv2d> patches = {}) {
  std::mt19937 generator(static_cast<unsigned>(width));
  std::normal_distribution<float> normal(0.0F, 1.0F / std::sqrt(static_cast<float>(width)));
  std::vector<float> matrix(width * width);
  for (float& v : matrix) v = normal(generator);
  return {std::make_shared<const std::vector<float>>(std::move(matrix)), patches};
}

std::vector<Network> networks() {
  return {
      Network({5, 1, 1}, {{"only", Linear{3}}}),
      Network({13, 1, 1},
              {{"a", Linear{6}}, {"r", Relu{}}, {"b", Linear{9}}, {"t", Tanh{}}, {"c", Linear{3}}}),
      Network({1, 6, 6}, {{"c", Conv2d{2, 3}}, {"f", Flatten{}}, {"l", Linear{2}}}),
      Network({1, 8, 8}, {{"p", MaxPool2d{2}},
                          {"f", Flatten{}},
                          {"l", Linear{4}},
                          {"r", Relu{}},
                          {"k", Linear{3}}}),
      Network({3, 11, 10}, {{"a0", AvgPool2d{1}},
                            {"c1", Conv2d{4, 3, 2, 1}},
                            {"t1", Tanh{}},
                            {"a1", AvgPool2d{2}},
                            {"c2", Conv2d{9, 2, 1, 1}},
                            {"r2", Relu{}},
                            {"p", MaxPool2d{2}},
                            {"r3", Relu{}},
                            {"f", Flatten{}},
                            {"fc1", Linear{17}},
                            {"t", Tanh{}},
                            {"fc2", Linear{3}}}),
      Network({2, 9, 8}, {{"c1", Conv2d{3, 3, 1, 1}},
                          {"t1", Tanh{}},
                          {"p1", MaxPool2d{2}},
                          {"m2", random_map(12, Conv2d{12, 2, 1, 1})},
                          {"c2", Conv2d{5, 1}},
                          {"r2", Relu{}},
                          {"a2", AvgPool2d{2}},
                          {"f", Flatten{}},
                          {"m3", random_map(20)},
                          {"fc1", Linear{7}},
                          {"t3", Tanh{}},
                          {"m4", random_map(7)},
                          {"fc2", Linear{3}}}),
      preset_network("mlp-10"),
      preset_network("lenet")};
}

std::vector<float> random_metric(const Network& network, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> inverse(network.parameter_count());
  for (float& v : inverse) v = std::exp(2.0F * normal(generator));
  return inverse;
}

ClippedSum reference(const Network& network, const std::vector<float>& parameters,
                     const Batch& batch, const std::vector<std::size_t>& rows,
                     const Clipping& clipping, std::span<const float> inverse) {
  const std::vector<double> theta(parameters.begin(), parameters.end());
  std::vector<std::vector<double>> values;
  std::vector<LabelledRecord> records;
  values.reserve(rows.size());
  for (const std::size_t r : rows) {
    values.emplace_back(batch.values[r].begin(), batch.values[r].end() - 8);
    records.push_back({values.back(), batch.labels[r]});
  }
  return clipped_gradient(network, theta, records, clipping, inverse);
}

/// Clips near the middle of the norms that occur, for the whole gradient or for each block.
Clipping middling(const Network& network, const std::vector<float>& parameters, const Batch& batch,
                  bool by_block, std::span<const float> inverse) {
  std::vector<std::size_t> all(batch.count());
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = r;
  std::vector<double> norms = reference(network, parameters, batch, all, {{1.0}}, inverse).norms;
  std::nth_element(norms.begin(), norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2),
                   norms.end());
  const double middle = norms[norms.size() / 2];
  Clipping clipping{{middle}};
  if (by_block) {
    clipping.clips.assign(network.blocks().size(), 0.0);
    double share = 0.3;
    for (double& clip : clipping.clips) clip = middle * (share = share < 0.5 ? share + 0.25 : 0.2);
  }
  return clipping;
}

void expect_reference(const Network& network, std::size_t rows, std::size_t models, bool by_block,
                      bool metric, unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", rows " + std::to_string(rows) + ", models " +
               std::to_string(models) + (by_block ? ", by block" : "") +
               (metric ? ", metric" : ""));
  const Batch batch(network, rows, seed);
  const std::vector<float> inverse = metric ? random_metric(network, seed) : std::vector<float>{};
  const float unit = 0.25F;
  std::mt19937 generator(seed);
  Bundle bundle(network, models);
  std::vector<std::vector<float>> parameters;
  std::vector<Clipping> clipping;
  std::vector<float> weights;
  for (std::size_t m = 0; m < models; ++m) {
    parameters.push_back(initial_parameters(network, seed * 100 + m));
    bundle.set_parameters(m, parameters.back());
    clipping.push_back(
        middling(network, parameters[m], batch, by_block && network.blocks().size() > 1, inverse));
    for (std::size_t r = 0; r < rows; ++r) weights.push_back(generator() % 4 == 0 ? 0.0F : unit);
  }
  bundle.clip(clipping, inverse);
  std::vector<float> gradient(network.parameter_count());
  bundle.compute_gradients(batch.rows(weights), nullptr);
  for (std::size_t m = 0; m < models; ++m) {
    std::vector<std::size_t> held;
    for (std::size_t r = 0; r < rows; ++r) {
      if (weights[m * rows + r] != 0.0F) held.push_back(r);
    }
    // What is taken off for sums, in pieces of the size that the cache holds.
    const std::size_t cached = network.input().size() > 1024 ? 64 : kMostClippedRows;
    Clipping narrowed = clipping[m];
    for (double& clip : narrowed.clips) clip *= 1.0 - sum_margin(std::min(rows, cached), rows);
    const ClippedSum exact = reference(network, parameters[m], batch, held, narrowed, inverse);
    bundle.get_gradient(m, gradient);
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double wanted = static_cast<double>(unit) * exact.sum[i];
      error +=
          (static_cast<double>(gradient[i]) - wanted) * (static_cast<double>(gradient[i]) - wanted);
      size += wanted * wanted;
    }
    EXPECT_LT(std::sqrt(error), (metric ? 1e-3 : 1e-5) * std::sqrt(size)) << "model " << m;
    EXPECT_EQ(bundle.zeroed()[m], 0U);
  }
}

TEST(ClippedGradients, EqualTheReference) {
  unsigned seed = 1;
  for (const Network& network : networks()) {
    for (const bool by_block : {false, true}) {
      for (const bool metric : {false, true}) {
        expect_reference(network, 9, 2, by_block, metric, seed++);
      }
    }
  }
  expect_reference(preset_network("mlp-30"), 300, 4, false, false, 101);  // several pieces
  expect_reference(preset_network("lenet"), 70, 2, true, false, 102);
}

TEST(ClippedGradients, KnownSquaresGiveTheSameAndSparseRowsAreNotRead) {
  const Network network = preset_network("mlp-10");
  const Batch batch(network, 12, 1);
  std::vector<double> squares;
  for (const auto& row : batch.values) squares.push_back(sum_of_squares(row.data(), row.size()));
  const std::vector<float> weights(12, 1.0F), parameters = initial_parameters(network, 3);
  std::vector<float> known(network.parameter_count()), own(known);
  Bundle bundle(network, 1);
  EXPECT_TRUE(bundle.reads_sparse_rows());
  bundle.set_parameters(0, parameters);
  bundle.clip({middling(network, parameters, batch, false, {})});
  EXPECT_FALSE(bundle.reads_sparse_rows());
  BatchRows rows = batch.rows(weights);
  bundle.compute_gradients(rows, nullptr);
  bundle.get_gradient(0, own);
  rows.squared_inputs = squares.data();
  bundle.compute_gradients(rows, nullptr);
  bundle.get_gradient(0, known);
  EXPECT_EQ(own, known);
}

/// A sum just below a power of two without the record, just above with it, and then records of half a unit in the last place above: one sum moves with
/// each of them, the other never does. In one piece of single precision they end 2.5 clips apart.
TEST(ClippedGradients, RoundingOfALongSumIsWithinTheClip) {
  const Network network({1, 1, 1}, {{"only", Linear{2}}});
  constexpr std::size_t kOnes = 4096;
  const double clip = 1e6;
  Bundle bundle(network, 1);
  bundle.set_parameters(0, std::vector<float>(network.parameter_count(), 0.0F));  // signals of 1/2
  bundle.clip({Clipping{{clip}}});
  std::vector<float> gradient(network.parameter_count());
  const auto sum_of = [&](const Batch& batch, const std::vector<float>& weights) {
    bundle.compute_gradients(batch.rows(weights), nullptr);
    bundle.get_gradient(0, gradient);
    return gradient;
  };
  Batch ones(network, 0, 1);
  for (std::size_t r = 0; r < 2 * kOnes + 2; ++r) ones.add({1e12F}, 0);
  std::vector<float> one(ones.count(), 0.0F);
  one[0] = 1.0F;
  const double length = std::fabs(static_cast<double>(sum_of(ones, one)[0]));
  const double power = std::exp2(std::ceil(std::log2(length * kOnes)));
  Batch batch(network, 0, 1);
  const auto before = static_cast<std::size_t>(power / length) - 1;
  for (std::size_t r = 0; r < before; ++r) batch.add({1e12F}, 0);
  const double missing = power - length * static_cast<double>(before);
  batch.add({static_cast<float>(2.0 * (missing / 2.0))}, 0);
  batch.add({static_cast<float>(2.0 * (missing / 2.0 - power * 0x1p-22))}, 0);
  const std::size_t record = batch.count();
  batch.add({1e12F}, 0);
  const double unit = power * 0x1p-23;
  for (std::size_t r = 0; r < kOnes; ++r) batch.add({static_cast<float>(2.0 * 0.49 * unit)}, 1);
  std::vector<float> weights(batch.count(), 1.0F);
  const std::vector<float> with = sum_of(batch, weights);
  weights[record] = 0.0F;
  const std::vector<float> without = sum_of(batch, weights);
  double square = 0.0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    square += std::pow(static_cast<double>(with[i]) - static_cast<double>(without[i]), 2);
  }
  EXPECT_LE(std::sqrt(square), clip);
  EXPECT_GT(std::sqrt(square), 0.9 * clip);
}

TEST(ClippedGradients, BatchesThatSinglePrecisionCannotAddAreRefused) {
  EXPECT_LT(sum_margin(kMostClippedRows, 60'000), 0.01);
  EXPECT_GT(sum_margin(kMostClippedRows, 5'000'000), kLargestMargin);
  const Network network({1, 1, 1}, {{"only", Linear{2}}});
  Bundle bundle(network, 1);
  bundle.clip({Clipping{{1.0}}});
  const float input = 1.0F;
  const std::vector<const float*> inputs(5'000'000, &input);
  const std::vector<std::uint8_t> labels(inputs.size(), 0);
  const std::vector<float> weights(inputs.size(), 1.0F);
  EXPECT_THROW(
      bundle.compute_gradients(
          {{inputs.size(), inputs.data(), nullptr, nullptr}, labels.data(), weights.data()},
          nullptr),
      InvalidArgument);
}

/// The bits of a model's gradient in a bundle of `models`, as its last.
std::vector<float> gradient_in_bundle(const Network& network, std::size_t models) {
  const Batch batch(network, 21, 8);
  Bundle bundle(network, models);
  std::vector<Clipping> clipping;
  for (std::size_t m = 0; m < models; ++m) {
    bundle.set_parameters(m, initial_parameters(network, m + 1 == models ? 1 : 50 + m));
    clipping.push_back({{m + 1 == models ? 0.5 : 0.1 * static_cast<double>(m + 1)}});
  }
  bundle.clip(clipping);
  const std::vector<float> weights(models * 21, 1.0F);
  bundle.compute_gradients(batch.rows(weights), nullptr);
  std::vector<float> gradient(network.parameter_count());
  bundle.get_gradient(models - 1, gradient);
  return gradient;
}

TEST(ClippedGradients, DoNotDependOnTheNeighboursInTheBundle) {
  for (const Network& network : networks()) {
    const std::vector<float> alone = gradient_in_bundle(network, 1);
    for (const std::size_t models : {2U, 4U, 8U}) {
      EXPECT_EQ(gradient_in_bundle(network, models), alone) << models;
    }
  }
}

/// Records that try to be more than their clip: huge, tiny, of one number, extreme in single precision.
std::vector<std::vector<float>> adversaries(const Network& network, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> records;
  for (const float size :
       {1.0F, 1e3F, 1e10F, 1e19F, 1e30F, 3e38F, 1e-10F, 1e-23F, 1e-38F, 1e-44F}) {
    std::vector<float> signs(network.input().size()), one(network.input().size(), 0.0F);
    for (float& v : signs) v = normal(generator) > 0.0F ? size : -size;
    one[generator() % one.size()] = size;
    records.push_back(signs);
    records.push_back(one);
  }
  return records;
}

/// What a record changes in the sum before noise is at most its clip in the declared norm, for the accountant counts on it. `slack`: what
/// rounding the other records' sum can add.
void expect_bounded_change(const Network& network, bool by_block, bool metric, float weight_scale,
                           unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", weights " + std::to_string(weight_scale));
  std::mt19937 generator(seed);
  const std::vector<float> inverse = metric ? random_metric(network, seed) : std::vector<float>{};
  std::vector<float> parameters = initial_parameters(network, seed);
  for (float& p : parameters) p *= weight_scale;
  Batch batch(network, 6, seed);
  const std::size_t common = batch.count();
  for (auto& record : adversaries(network, generator)) {
    batch.add(std::move(record), generator() % network.classes());
  }
  Clipping clipping{{0.7}};
  if (by_block) clipping.clips.assign(network.blocks().size(), 0.3);
  Bundle bundle(network, 1);
  bundle.set_parameters(0, parameters);
  bundle.clip({clipping}, inverse);
  std::vector<float> without(network.parameter_count()), with(without);
  std::vector<float> weights(batch.count(), 0.0F);
  std::fill_n(weights.begin(), common, 1.0F);
  bundle.compute_gradients(batch.rows(weights), nullptr);
  bundle.get_gradient(0, without);
  for (std::size_t r = common; r < batch.count(); ++r) {
    weights[r] = 1.0F;
    bundle.compute_gradients(batch.rows(weights), nullptr);
    bundle.get_gradient(0, with);
    weights[r] = 0.0F;
    std::vector<double> change(with.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
      ASSERT_TRUE(std::isfinite(with[i])) << "record " << r - common;
      change[i] = static_cast<double>(with[i]) - static_cast<double>(without[i]);
    }
    double whole = 0.0;
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      const double norm = block_norm(network.blocks()[b], change, inverse);
      whole += norm * norm;
      EXPECT_LE(norm, (by_block ? 0.3 : 0.7) * (1.0 + 1e-5)) << "record " << r - common;
    }
    const auto blocks = static_cast<double>(network.blocks().size());
    EXPECT_LE(std::sqrt(whole), (by_block ? 0.3 * std::sqrt(blocks) : 0.7) * (1.0 + 1e-5));
  }
}

TEST(ClippedGradients, OneRecordChangesASumByItsClipAtMost) {
  unsigned seed = 200;
  for (const Network& network : networks()) {
    const bool small = network.parameter_count() < 5000;
    for (const float weight_scale : {1.0F, 1e-3F, 30.0F, 1e8F, 1e25F}) {
      if (!small && weight_scale != 1.0F && weight_scale != 1e8F) continue;
      expect_bounded_change(network, false, false, weight_scale, seed++);
      expect_bounded_change(network, network.blocks().size() > 1, true, weight_scale, seed++);
    }
  }
}

/// Of a record alone nothing is rounded beside it: its clip times its weight, to the last digit.
void expect_within_clip(const Network& network, const std::vector<float>& inverse, double clip,
                        float weight, std::vector<float> record, unsigned seed) {
  Batch batch(network, 0, seed);
  batch.add(std::move(record), seed % network.classes());
  Bundle bundle(network, 1);
  bundle.set_parameters(0, initial_parameters(network, seed));
  bundle.clip({Clipping{{clip}}}, inverse);
  bundle.compute_gradients(batch.rows({weight}), nullptr);
  std::vector<float> gradient(network.parameter_count());
  bundle.get_gradient(0, gradient);
  const std::vector<double> sum(gradient.begin(), gradient.end());
  double whole = 0.0;
  for (const ParameterBlock& block : network.blocks()) {
    whole += std::pow(block_norm(block, sum, inverse), 2);
  }
  EXPECT_LE(std::sqrt(whole), clip * static_cast<double>(weight))
      << "clip " << clip << ", weight " << weight << ", seed " << seed;
}

TEST(ClippedGradients, FactorsBelowTheLeastFloatLetNothingThrough) {
  unsigned seed = 900;
  std::mt19937 generator(7);
  for (const Network& network : networks()) {
    if (network.parameter_count() > 5000) continue;
    for (const double clip : {0.7, 0.0168, 3.9e-5, 1e-12}) {
      for (const float weight : {1.0F, 1.0F / 64.0F, 1.0F / 16384.0F}) {
        for (auto& record : adversaries(network, generator)) {
          expect_within_clip(network, {}, clip, weight, record, seed++);
          expect_within_clip(network, random_metric(network, seed), clip, weight, record, seed);
        }
        for (const float size : {3e38F, 1e38F, 1e34F, 1e25F, 1e15F}) {
          const std::vector<float> record(network.input().size(), size);
          expect_within_clip(network, {}, clip, weight, record, seed++);
          expect_within_clip(network, random_metric(network, seed), clip, weight, record, seed);
        }
      }
    }
  }
}

TEST(ClippedGradients, NormsOfManyInputsInAMetricAreNotTooSmall) {
  const Network network({30000, 1, 1}, {{"only", Linear{2}}});
  std::vector<float> record(network.input().size(), 0.99F);  // each square is lost beside 2^24
  record.front() = 4096.0F;
  const std::vector<float> inverse(network.parameter_count(), 1.0F);
  expect_within_clip(network, inverse, 0.5, 1.0F, record, 4);
}

TEST(ClippedGradients, RecordsThatAreNotFiniteCountNothingAndAreCounted) {
  std::uint64_t zeroed = 0;
  for (const Network& network : networks()) {
    Batch batch(network, 5, 77);
    batch.add(std::vector<float>(network.input().size(), 3e38F), 0);
    std::vector<float> parameters = initial_parameters(network, 9);
    for (float& p : parameters) p *= 10.0F;
    Bundle bundle(network, 1);
    bundle.set_parameters(0, parameters);
    bundle.clip({{{1.0}}});
    std::vector<float> weights(6, 1.0F), with(network.parameter_count()), without(with);
    bundle.compute_gradients(batch.rows(weights), nullptr);
    zeroed += bundle.zeroed()[0];
    if (bundle.zeroed()[0] == 0) continue;  // where an activation is bounded its gradient is finite
    bundle.get_gradient(0, with);
    weights[5] = 0.0F;  // absent: the same sum, and nobody to count
    bundle.compute_gradients(batch.rows(weights), nullptr);
    EXPECT_EQ(bundle.zeroed()[0], 0U);
    bundle.get_gradient(0, without);
    EXPECT_EQ(with, without);
  }
  EXPECT_GE(zeroed, 4U);
}

/// A sum over a batch, and what was counted of it, for models of the given seeds side by side.
struct Outcome {
  std::vector<float> gradient;
  std::uint64_t zeroed;
  bool operator==(const Outcome&) const = default;
};
std::vector<Outcome> outcomes(const Network& network, const Batch& batch,
                              const std::vector<std::size_t>& seeds,
                              std::span<const float> inverse) {
  Bundle bundle(network, seeds.size());
  std::vector<Clipping> clipping(seeds.size(), {{0.5}});
  std::vector<float> weights(seeds.size() * batch.count(), 1.0F);
  for (std::size_t m = 0; m < seeds.size(); ++m) {
    std::vector<float> parameters = initial_parameters(network, seeds[m]);
    for (float& p : parameters) p *= seeds[m] % 2 == 0 ? 1.0F : 1e-30F;  // signals that vanish
    bundle.set_parameters(m, parameters);
  }
  bundle.clip(clipping, inverse);
  bundle.compute_gradients(batch.rows(weights), nullptr);
  std::vector<Outcome> result;
  for (std::size_t m = 0; m < seeds.size(); ++m) {
    result.push_back({std::vector<float>(network.parameter_count()), bundle.zeroed()[m]});
    bundle.get_gradient(m, result.back().gradient);
  }
  return result;
}

// A record with a number that is not finite counts nothing in any model, whatever stands beside it, even where no signal reaches the number.
TEST(ClippedGradients, InputsThatAreNotFiniteCountNothingInEveryModel) {
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<std::size_t> seeds = {2, 3, 4, 5};
  for (const Network& network : networks()) {
    for (const bool metric : {false, true}) {
      const std::vector<float> inverse = metric ? random_metric(network, 5) : std::vector<float>{};
      for (const float value : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN()}) {
        const Batch without(network, 5, 78);
        Batch batch = without;
        std::vector<float> record(network.input().size(), 0.5F);
        record[network.input().size() / 2] = value;
        // A pool before the first layer takes the largest: then that layer never sees a small one.
        const bool unseen = std::holds_alternative<MaxPool2d>(network.layers()[0].layer);
        if (unseen && value != infinite) continue;
        batch.add(record, 0);
        const auto together = outcomes(network, batch, seeds, inverse);
        for (std::size_t m = 0; m < seeds.size(); ++m) {
          SCOPED_TRACE(fmt::format("{} layers, metric {}, {}, model {}", network.layers().size(),
                                   metric, value, m));
          EXPECT_EQ(together[m].zeroed, 1U);
          EXPECT_EQ(outcomes(network, batch, {seeds[m]}, inverse)[0], together[m]);
          // Without the record the same sum; with fewer rows blocks of products end elsewhere, hence the last bits.
          const auto rest = outcomes(network, without, {seeds[m]}, inverse)[0];
          EXPECT_EQ(rest.zeroed, 0U);
          double largest = 0.0;
          for (std::size_t i = 0; i < rest.gradient.size(); ++i) {
            const double change = std::abs(static_cast<double>(together[m].gradient[i]) -
                                           static_cast<double>(rest.gradient[i]));
            largest = std::isnan(change) ? change : std::max(largest, change);
          }
          EXPECT_LT(largest, 1e-5);
        }
      }
    }
  }
}

TEST(ClippedGradients, RefusesClipsThatDoNotFit) {
  const Network network = preset_network("mlp-10");
  Bundle bundle(network, 2);
  const auto bad = [&](std::vector<Clipping> clipping) {
    EXPECT_THROW(bundle.clip(std::move(clipping)), InvalidArgument);
  };
  bad({{{1.0}}});
  bad({{{1.0}}, {{}}});
  bad({{{1.0}}, {{1.0, 2.0, 3.0}}});
  bad({{{1.0}}, {{0.0}}});
  bad({{{1.0}}, {{std::numeric_limits<double>::infinity()}}});
}

}  // namespace
}  // namespace sfumato::lab
