// Traces, eigenvalues and norms of random tiny networks against dense matrices by differences.
#include "lab/nn/flatness.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>

#include "support/brute_force.hpp"
#include "support/random_network.hpp"

namespace sfumato::lab {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::description;
using testing::RandomNetworks;
using testing::RecordSet;

constexpr std::uint64_t kSeed = 4711;
constexpr std::size_t kLargest = 60;  // parameters: the dense matrices cost their square

/// Calls f(random, network) for `count` random networks with few parameters.
template <class F>
void each_small_network(int count, bool smooth, F f) {
  std::uint64_t seed = kSeed;
  for (int done = 0; done < count; ++seed) {
    RandomNetworks random(seed);
    const Network net = random.network(smooth);
    if (net.parameter_count() > kLargest) continue;
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, description(net)));
    f(random, net);
    if (::testing::Test::HasFatalFailure()) return;
    ++done;
  }
}

// Hutchinson is unbiased; with as many probes the mean is within 5 standard errors but for one in 1e6
// (about: the probes are not quite normal). v^T H v = tr H exactly where H is diagonal.
TEST(FlatnessProperty, TraceAgainstDenseHessian) {
  each_small_network(40, false, [](RandomNetworks& random, const Network& net) {
    const std::vector<double> parameters = random.parameters(net);
    const RecordSet records(random, net, 3);
    const MatrixXd dense = testing::hessian(net, parameters, records.all(), LossScale::sum);
    const Claimed<MonteCarloMean> got =
        hessian_trace(net, parameters, records.all(), LossScale::sum, 200, 1);
    EXPECT_EQ(got.claim, Claim::estimate);
    ASSERT_NEAR(got.value.value, dense.trace(), 5.0 * got.value.standard_error + 1e-5);
    // The spread of Hutchinson with signs: 2 (|H|^2 - sum of H_ii^2).
    const double variance = 2.0 * (dense.squaredNorm() - dense.diagonal().squaredNorm());
    ASSERT_NEAR(got.value.standard_error, std::sqrt(variance / 200.0),
                0.5 * std::sqrt(variance / 200.0) + 1e-6);
  });
}

TEST(FlatnessProperty, LargestEigenvalueAgainstDenseHessian) {
  each_small_network(60, false, [](RandomNetworks& random, const Network& net) {
    const std::vector<double> parameters = random.parameters(net);
    const RecordSet records(random, net, 2);
    const MatrixXd dense = testing::hessian(net, parameters, records.all(), LossScale::mean);
    const VectorXd all =
        Eigen::SelfAdjointEigenSolver<MatrixXd>(0.5 * (dense + dense.transpose())).eigenvalues();
    const Claimed<SpectralEstimate> got =
        largest_hessian_eigenvalue(net, parameters, records.all(), LossScale::mean);
    EXPECT_EQ(got.claim, Claim::estimate);
    ASSERT_TRUE(got.value.converged);
    ASSERT_NEAR(got.value.value, all(all.size() - 1), 1e-6 * (1.0 + all.cwiseAbs().maxCoeff()));
    ASSERT_LE(got.value.products, static_cast<Eigen::Index>(net.parameter_count()));
  });
}

TEST(FlatnessProperty, MixedDerivativeNormAgainstDenseJacobian) {
  each_small_network(60, false, [](RandomNetworks& random, const Network& net) {
    const std::vector<double> parameters = random.parameters(net);
    const RecordSet records(random, net, 1);
    const std::vector<double> point = record_point(net, records[0]);
    for (const RecordMoves moves : {RecordMoves::values, RecordMoves::values_and_label}) {
      const std::size_t entries = moves == RecordMoves::values ? net.input().size() : point.size();
      const MatrixXd dense = testing::mixed_derivative(net, parameters, point, entries);
      const double want = Eigen::JacobiSVD<MatrixXd>(dense).singularValues()(0);
      const SpectralEstimate got = mixed_derivative_norm(net, parameters, point, moves).value;
      ASSERT_TRUE(got.converged);
      ASSERT_NEAR(got.value, want, 1e-6 * (1.0 + want));
    }
  });
}

// The mean-value inequality holds for every smooth network, and where no ReLU or maximum switches.
TEST(FlatnessProperty, GradientDifferencesRespectTheBound) {
  int same_label = 0, switched = 0;
  for (const bool smooth : {true, false}) {
    each_small_network(60, smooth, [&](RandomNetworks& random, const Network& net) {
      const std::vector<double> parameters = random.parameters(net);
      const RecordSet records(random, net, 2);
      const RecordSensitivity got =
          record_sensitivity(net, parameters, records[0], records[1], 9).value;
      const VectorXd difference =
          testing::as_vector(record_gradient(net, parameters, records[0]).gradient) -
          testing::as_vector(record_gradient(net, parameters, records[1]).gradient);
      ASSERT_DOUBLE_EQ(got.gradient_difference, difference.norm());
      double square = records[0].label == records[1].label ? 0.0 : 2.0;
      for (std::size_t i = 0; i < net.input().size(); ++i) {
        square += std::pow(records[0].values[i] - records[1].values[i], 2);
      }
      ASSERT_NEAR(got.distance, std::sqrt(square), 1e-12);
      ASSERT_EQ(got.norms.size(), 9U);
      ASSERT_DOUBLE_EQ(got.bound, got.distance * got.largest_norm);
      if (smooth) {
        ASSERT_EQ(got.switches, 0U);
      }
      if (got.switches == 0) {
        ASSERT_TRUE(got.respected) << got.gradient_difference << " > " << got.bound;
      }
      same_label += records[0].label == records[1].label ? 1 : 0;
      switched += got.switches > 0 ? 1 : 0;
    });
  }
  EXPECT_GT(same_label, 10);  // both kinds of segment, and jumps, were met
  EXPECT_LT(same_label, 110);
  EXPECT_GT(switched, 10);
}

}  // namespace
}  // namespace sfumato::lab
