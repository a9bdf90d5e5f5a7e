// Derivatives of random networks of every kind of layer against differences of function values.
#include "lab/nn/exact_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_network.hpp"

namespace sfumato::lab {
namespace {

using testing::description;
using testing::RandomNetworks;
using testing::RecordSet;
using Vector = std::vector<double>;

constexpr std::uint64_t kSeed = 20230517;
constexpr double kStep = 1e-6;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
Vector moved(Vector from, const Vector& direction, double step) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] += step * direction[i];
  return from;
}

// Central differences are off by about step^2 and 1e-16/step; a kink (of ReLU or a maximum) nearer than
// the step is met in fewer than one of 1e4 cases, and not for this seed.
TEST(ExactGradientProperty, GradientsAreDifferencesOfLosses) {
  for (std::uint64_t trial = 0; trial < 1000; ++trial) {
    RandomNetworks random(kSeed + trial);
    const Network net = random.network();
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + trial, description(net)));
    const Vector parameters = random.parameters(net);
    const RecordSet records(random, net, 1);
    const auto loss = [&](const Vector& at) { return record_gradient(net, at, records[0]).loss; };
    const RecordGradient got = record_gradient(net, parameters, records[0]);
    // All directions at once, then some of the coordinates.
    const Vector v = random.normals(parameters.size());
    const double slope =
        (loss(moved(parameters, v, kStep)) - loss(moved(parameters, v, -kStep))) / (2 * kStep);
    ASSERT_NEAR(dot(got.gradient, v), slope, 1e-6 * (1.0 + std::abs(slope)));
    for (int k = 0; k < 10; ++k) {
      Vector unit(parameters.size());
      const auto i = static_cast<std::size_t>(random.below(static_cast<int>(unit.size())));
      unit[i] = 1.0;
      const double up = loss(moved(parameters, unit, kStep));
      const double down = loss(moved(parameters, unit, -kStep));
      ASSERT_NEAR(got.gradient[i], (up - down) / (2 * kStep),
                  1e-7 * (1.0 + std::abs(got.gradient[i])))
          << net.parameter_name(i);
    }
    // The loss and gradient of its own point of record space.
    ASSERT_EQ(point_gradient(net, parameters, record_point(net, records[0])), got.gradient);
  }
}

TEST(ExactGradientProperty, HessianProductsAreDifferencesOfGradients) {
  for (std::uint64_t trial = 0; trial < 1000; ++trial) {
    RandomNetworks random(kSeed + trial);
    const Network net = random.network();
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + trial, description(net)));
    const Vector parameters = random.parameters(net);
    const RecordSet records(random, net, 2);
    const Vector v = random.normals(parameters.size()), w = random.normals(parameters.size());
    const auto gradient = [&](double step) {
      return batch_gradient(net, moved(parameters, v, step), records.all(), LossScale::mean)
          .gradient;
    };
    const auto product = [&](const Vector& direction) {
      return hessian_product(net, parameters, records.all(), LossScale::mean, direction);
    };
    const Vector up = gradient(kStep), down = gradient(-kStep), got = product(v);
    const double scale = 1.0 + std::sqrt(dot(got, got));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], (up[i] - down[i]) / (2 * kStep), 1e-6 * scale) << net.parameter_name(i);
    }
    // Symmetric.
    ASSERT_NEAR(dot(w, got), dot(v, product(w)), 1e-11 * scale * std::sqrt(dot(w, w)));
  }
}

TEST(ExactGradientProperty, MixedDerivativesAreDifferencesInTheRecord) {
  for (std::uint64_t trial = 0; trial < 1000; ++trial) {
    RandomNetworks random(kSeed + trial);
    const Network net = random.network();
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + trial, description(net)));
    const Vector parameters = random.parameters(net);
    const RecordSet records(random, net, 1);
    const Vector point = record_point(net, records[0]);
    const Vector u = random.normals(point.size()), v = random.normals(parameters.size());
    const Vector got = mixed_product(net, parameters, point, u);
    const Vector up = point_gradient(net, parameters, moved(point, u, kStep));
    const Vector down = point_gradient(net, parameters, moved(point, u, -kStep));
    const double scale = 1.0 + std::sqrt(dot(got, got));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], (up[i] - down[i]) / (2 * kStep), 1e-6 * scale) << net.parameter_name(i);
    }
    const Vector back = mixed_transposed_product(net, parameters, point, v);
    ASSERT_NEAR(dot(back, u), dot(v, got), 1e-11 * scale * std::sqrt(dot(v, v)));
  }
}

}  // namespace
}  // namespace sfumato::lab
