// The fast engine against the double-precision reference, and the independence of models from their
// neighbours.
#include "lab/nn/bundle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {
namespace {

struct Batch {
  std::vector<std::vector<float>> values;
  std::vector<const float*> inputs;
  std::vector<std::uint8_t> labels;
  std::vector<float> weights;  ///< models x rows

  Batch(const Network& network, std::size_t rows, std::size_t models, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (std::size_t r = 0; r < rows; ++r) {
      // Kernels may read a vector past the end of a record.
      values.emplace_back(network.input().size() + 8);
      for (float& v : values.back()) v = normal(generator);
      labels.push_back(static_cast<std::uint8_t>(generator() % network.classes()));
    }
    for (const auto& row : values) inputs.push_back(row.data());
    for (std::size_t i = 0; i < models * rows; ++i) {
      weights.push_back(generator() % 4 == 0 ? 0.0F : 1.0F / static_cast<float>(rows));
    }
  }
  [[nodiscard]] BatchRows rows() const {
    return {{inputs.size(), inputs.data()}, labels.data(), weights.data()};
  }
};

/// Loss and gradient of model m on the batch, in double precision.
RecordGradient reference(const Network& network, const std::vector<float>& parameters,
                         const Batch& batch, std::size_t m) {
  const std::vector<double> theta(parameters.begin(), parameters.end());
  RecordGradient sum{0.0, {}, std::vector<double>(theta.size())};
  for (std::size_t r = 0; r < batch.labels.size(); ++r) {
    const std::vector<double> x(
        batch.values[r].begin(),
        batch.values[r].begin() + static_cast<std::ptrdiff_t>(network.input().size()));
    const RecordGradient one = record_gradient(network, theta, {x, batch.labels[r]});
    const double weight = static_cast<double>(batch.weights[m * batch.labels.size() + r]);
    sum.loss += weight * one.loss;
    for (std::size_t i = 0; i < theta.size(); ++i) sum.gradient[i] += weight * one.gradient[i];
  }
  return sum;
}

void expect_reference_gradients(const Network& network, std::size_t rows, std::size_t models,
                                unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", rows " + std::to_string(rows) + ", models " +
               std::to_string(models));
  const Batch batch(network, rows, models, seed);
  Bundle bundle(network, models);
  std::vector<std::vector<float>> parameters;
  for (std::size_t m = 0; m < models; ++m) {
    parameters.push_back(initial_parameters(network, seed * 100 + m));
    bundle.set_parameters(m, parameters.back());
  }
  std::vector<float> losses(models * rows), gradient(network.parameter_count());
  bundle.compute_gradients(batch.rows(), losses.data());
  for (std::size_t m = 0; m < models; ++m) {
    const RecordGradient exact = reference(network, parameters[m], batch, m);
    double loss = 0.0;
    for (std::size_t r = 0; r < rows; ++r) {
      loss += static_cast<double>(batch.weights[m * rows + r]) *
              static_cast<double>(losses[m * rows + r]);
    }
    EXPECT_NEAR(loss, exact.loss, 1e-5 * (1.0 + exact.loss));
    bundle.get_gradient(m, gradient);
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double difference = static_cast<double>(gradient[i]) - exact.gradient[i];
      error += difference * difference;
      size += exact.gradient[i] * exact.gradient[i];
    }
    EXPECT_LT(std::sqrt(error), 1e-5 * std::sqrt(size) + 1e-9) << "model " << m;
  }
}

Network small_convolution() {
  return Network({2, 9, 8}, {{"c1", Conv2d{3, 3, 1, 1}},
                             {"r1", Relu{}},
                             {"p1", MaxPool2d{2}},
                             {"c2", Conv2d{5, 2}},
                             {"t2", Sigmoid{}},
                             {"p2", MaxPool2d{3}},
                             {"f", Flatten{}},
                             {"fc", Linear{4}}});
}

Network every_layer() {
  return Network({3, 11, 10}, {{"a0", AvgPool2d{1}},
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
                               {"fc2", Linear{3}}});
}

TEST(Bundle, GradientsEqualTheReference) {
  for (const std::size_t models : {1U, 2U, 4U, 8U}) {
    expect_reference_gradients(preset_network("mlp-10"), 7, models, 1);
    expect_reference_gradients(small_convolution(), 5, models, 2);
    expect_reference_gradients(every_layer(), 5, models, 3);
  }
  expect_reference_gradients(preset_network("mlp-100"), 23, 4, 4);
  expect_reference_gradients(preset_network("lenet"), 70, 2, 11);  // two pieces
  expect_reference_gradients(preset_network("mlp-30"), 300, 2,
                             5);  // several pieces, as before
  expect_reference_gradients(preset_network("lenet"), 4, 4, 6);
  expect_reference_gradients(Network({5, 1, 1}, {{"only", Linear{2}}}), 3, 8, 7);
  expect_reference_gradients(
      Network({5, 1, 1}, {{"a", Linear{6}}, {"b", Linear{3}}, {"t", Tanh{}}}), 3, 4, 8);
  expect_reference_gradients(preset_network("mlp-10", Sigmoid{}), 7, 4, 10);
  expect_reference_gradients(
      Network({1, 6, 6}, {{"c", Conv2d{2, 3}}, {"f", Flatten{}}, {"l", Linear{2}}}), 6, 4, 9);
}

/// A few noisy steps; parameters of the first model.
std::vector<float> trained(const Network& network, std::size_t models, bool first_is_last) {
  const Batch batch(network, 12, 1, 11);
  Bundle bundle(network, models);
  const std::size_t mine = first_is_last ? models - 1 : 0;
  for (std::size_t m = 0; m < models; ++m) {
    bundle.set_parameters(m, initial_parameters(network, m == mine ? 1 : 50 + m));
  }
  std::vector<float> weights(models * 12, 1.0F / 12);
  std::vector<float> normals(network.parameter_count() + 8), largest(models), largest_bias(models);
  std::mt19937 generator(3);
  std::normal_distribution<float> normal;
  for (int step = 0; step < 5; ++step) {
    for (float& z : normals) z = normal(generator);
    BatchRows rows = batch.rows();
    rows.row_weights = weights.data();
    bundle.compute_gradients(rows, nullptr);
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      bundle.largest_gradients(b, largest, largest_bias);
      std::vector<NoiseScale> scales(models);
      for (std::size_t m = 0; m < models; ++m) {
        scales[m].gradient_factor = m == mine ? 0.01F : 0.0F;
        scales[m].constant = m == mine ? 0.001F * largest[m] : 0.02F * largest[m];
      }
      bundle.update(b, 0.1F, scales, scales, normals.data(), nullptr);
    }
  }
  std::vector<float> values(network.parameter_count());
  bundle.get_parameters(mine, values);
  return values;
}

TEST(Bundle, ModelsDoNotDependOnTheirNeighbours) {
  for (const Network& network :
       {preset_network("mlp-10"), small_convolution(), every_layer(), preset_network("lenet")}) {
    const std::vector<float> alone = trained(network, 1, false);
    for (const std::size_t models : {2U, 4U, 8U}) {
      EXPECT_EQ(trained(network, models, false), alone);
      EXPECT_EQ(trained(network, models, true), alone);
    }
  }
}

TEST(Bundle, UpdateAddsNoiseOfTheStatedVariance) {
  const Network network({3, 1, 1}, {{"fc", Linear{2}}});
  const std::vector<float> start = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const std::size_t models : {1U, 2U, 4U, 8U}) {
    Bundle bundle(network, models);
    const Batch batch(network, 4, models, 5);
    for (std::size_t m = 0; m < models; ++m) bundle.set_parameters(m, start);
    bundle.compute_gradients(batch.rows(), nullptr);
    std::vector<float> normals(16), fixed(16), gradient(8), after(8), largest(models),
        largest_bias(models);
    for (std::size_t i = 0; i < 8; ++i) {
      normals[i] = 0.25F * static_cast<float>(i + 1);
      fixed[i] = 0.5F * static_cast<float>(i + 1);
    }
    bundle.largest_gradients(0, largest, largest_bias);
    std::vector<NoiseScale> scales(models), bias(models);
    for (std::size_t m = 0; m < models; ++m) {
      const auto k = static_cast<float>(m + 1);
      scales[m] = {0.1F * k, 0.01F * k, 0.7F * k, 0.2F * k, 0.3F * k};
      bias[m] = {0.0F, 0.0F, 0.0F, 1.0F, 0.0F};
    }
    std::vector<std::vector<float>> gradients;
    for (std::size_t m = 0; m < models; ++m) {
      bundle.get_gradient(m, gradient);
      gradients.push_back(gradient);
      float most = 0.0F;
      for (const float g : gradient) most = std::max(most, std::fabs(g));
      EXPECT_EQ(std::max(largest[m], largest_bias[m]), most);
    }
    bundle.update(0, 0.5F, scales, bias, normals.data(), fixed.data());
    for (std::size_t m = 0; m < models; ++m) {
      bundle.get_parameters(m, after);
      for (std::size_t i = 0; i < 8; ++i) {
        const float g = gradients[m][i];
        const NoiseScale& s = i < 6 ? scales[m] : bias[m];
        const float variance = s.gradient_factor * std::max(std::fabs(g), s.floor) +
                               s.square_factor * g * g + s.constant + s.fixed_factor * fixed[i];
        const float expected = start[i] - 0.5F * g + std::sqrt(variance) * normals[i];
        EXPECT_NEAR(after[i], expected, 1e-6 * static_cast<double>(std::fabs(expected) + 1));
      }
    }
    for (std::size_t m = 0; m < models; ++m) bundle.set_parameters(m, start);
    bundle.update(0, 0.5F, scales, bias, nullptr, nullptr);
    bundle.get_parameters(models - 1, after);
    EXPECT_NEAR(after[3], start[3] - 0.5F * gradients[models - 1][3], 1e-6);
  }
}

TEST(Bundle, Evaluates) {
  const Network network = preset_network("mlp-10");
  Bundle bundle(network, 2);
  const Batch batch(network, 9, 2, 21);
  std::vector<float> losses(18), again(18);
  std::vector<std::uint8_t> predicted(18);
  for (std::size_t m = 0; m < 2; ++m) bundle.set_parameters(m, initial_parameters(network, m));
  bundle.evaluate(batch.rows().inputs, batch.labels.data(), losses.data(), predicted.data());
  bundle.compute_gradients(batch.rows(), again.data());
  EXPECT_EQ(losses, again);
  for (std::size_t m = 0; m < 2; ++m) {
    const std::vector<float> values = initial_parameters(network, m);
    const std::vector<double> theta(values.begin(), values.end());
    for (std::size_t r = 0; r < 9; ++r) {
      const std::vector<double> x(batch.values[r].begin(), batch.values[r].begin() + 784);
      const auto logits = record_gradient(network, theta, {x, 0}).logits;
      EXPECT_EQ(predicted[m * 9 + r],
                std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
  }
}

TEST(Bundle, RefusesOtherNumbersOfModels) {
  for (const std::size_t models : {0U, 3U, 5U, 16U}) {
    EXPECT_THROW(Bundle(preset_network("mlp-10"), models), InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato::lab
