// Spectra of minibatch noise against the dense covariance, and that against all batches.
#include "lab/nn/minibatch_covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "support/random_network.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::description;
using testing::RandomNetworks;
using testing::RecordSet;

constexpr std::uint64_t kSeed = 99;

TEST(MinibatchSpectrumProperty, AgreesWithTheDenseCovariance) {
  int fewer_records = 0, fewer_parameters = 0;
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    RandomNetworks random(kSeed + trial);
    const Network net = random.network();
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + trial, description(net)));
    if (net.parameter_count() > 80) continue;
    const RecordSet records(random, net, static_cast<std::size_t>(random.from_to(1, 60)));
    const auto n = std::ssize(records.all());
    const std::vector<double> parameters = random.parameters(net);
    const MinibatchOptions batches{
        random.from_to(1, static_cast<int>(n)),
        random.below(2) == 0 ? BatchSampling::with_replacement : BatchSampling::without_replacement,
        random.below(2) == 0 ? LossScale::sum : LossScale::mean};
    const MatrixXd want =
        dense(minibatch_covariance(record_gradients(net, parameters, records.all()), batches));
    const VectorXd all = Eigen::SelfAdjointEigenSolver<MatrixXd>(want).eigenvalues().reverse();
    const double scale = std::max(1e-300, want.trace());
    n < want.rows() ? ++fewer_records : ++fewer_parameters;
    // Dense Gram matrix; Lanczos; Lanczos on gradients that are computed anew, three at a time.
    const std::size_t three = 3 * sizeof(double) * net.parameter_count();
    for (const auto& [dense_up_to, memory] :
         {std::pair<Index, std::size_t>{1000, 1U << 30}, {0, 1U << 30}, {1000, three}}) {
      const MinibatchSpectrum got = minibatch_spectrum(net, parameters, records.all(), batches,
                                                       {{4, 100, 1e-10}, dense_up_to, memory});
      ASSERT_NEAR(got.trace, want.trace(), 1e-12 * scale);
      ASSERT_LT((got.diagonal - want.diagonal()).norm(), 1e-12 * scale);
      const EigenPairs& leading = got.leading;
      ASSERT_TRUE(leading.converged);
      const Index rank = std::min<Index>({4, want.rows(), n - 1});
      ASSERT_LE(leading.values.size(), std::max<Index>(0, rank));
      for (Index k = 0; k < std::min<Index>(4, want.rows()); ++k) {
        const bool found = k < leading.values.size();
        ASSERT_NEAR(found ? leading.values(k) : 0.0, all(k), 1e-9 * scale) << k;
        if (!found) continue;
        const VectorXd v = leading.vectors.col(k);
        ASSERT_NEAR(v.norm(), 1.0, 1e-12);
        const double residual = (want * v - leading.values(k) * v).norm();
        ASSERT_NEAR(residual, leading.residuals(k), 1e-10 * scale);
        ASSERT_LT(residual, 1e-8 * scale);
      }
    }
  }
  EXPECT_GT(fewer_records, 5);
  EXPECT_GT(fewer_parameters, 5);
}

// All batches of two of four records, written out: the definition of the covariance.
TEST(MinibatchSpectrumProperty, DiagonalIsTheVarianceOverAllBatches) {
  RandomNetworks random(kSeed);
  const Network net({3, 1, 1}, {{"a", Linear{2}}, {"tanh", Tanh{}}, {"b", Linear{2}}});
  const RecordSet records(random, net, 4);
  const std::vector<double> parameters = random.parameters(net);
  for (const bool replace : {true, false}) {
    VectorXd sum = VectorXd::Zero(std::ssize(parameters)), squares = sum;
    double count = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        if (!replace && i == j) continue;
        const std::vector<LabelledRecord> batch{records[i], records[j]};
        const BatchGradient estimator = batch_gradient(net, parameters, batch, LossScale::mean);
        const VectorXd g = Eigen::Map<const VectorXd>(estimator.gradient.data(), sum.size());
        sum += g;
        squares += g.cwiseAbs2();
        count += 1.0;
      }
    }
    const VectorXd variance = squares / count - (sum / count).cwiseAbs2();
    const MinibatchSpectrum got = minibatch_spectrum(
        net, parameters, records.all(),
        {2, replace ? BatchSampling::with_replacement : BatchSampling::without_replacement,
         LossScale::mean});
    EXPECT_LT((got.diagonal - variance).norm(), 1e-14);
  }
}

TEST(MinibatchSpectrum, EdgesAndRefusals) {
  RandomNetworks random(kSeed);
  const Network net({2, 1, 1}, {{"fc", Linear{2}}});
  const RecordSet records(random, net, 3);
  const std::vector<double> parameters = random.parameters(net);
  // The whole table without replacement: no noise.
  const MinibatchSpectrum none = minibatch_spectrum(net, parameters, records.all(), {3});
  EXPECT_EQ(none.trace, 0.0);
  EXPECT_EQ(none.leading.values.size(), 0);
  // An empty slot is a record with gradient zero.
  const std::vector<LabelledRecord> slots{records[0], {}, records[1]};
  const MatrixXd want = dense(minibatch_covariance(record_gradients(net, parameters, slots), {1}));
  EXPECT_NEAR(minibatch_spectrum(net, parameters, slots, {1}).trace, want.trace(), 1e-13);
  EXPECT_GT(want.trace(), 0.0);

  EXPECT_THROW((void)minibatch_spectrum(net, parameters, {}, {1}), InvalidArgument);
  EXPECT_THROW((void)minibatch_spectrum(net, parameters, records.all(), {0}), InvalidArgument);
  EXPECT_THROW((void)minibatch_spectrum(net, parameters, records.all(), {4}), InvalidArgument);
  EXPECT_THROW((void)minibatch_spectrum(net, parameters, records.all(), {1}, {{0, 5}}),
               InvalidArgument);
  const std::vector<double> nan(parameters.size(), std::nan(""));
  EXPECT_THROW((void)minibatch_spectrum(net, nan, records.all(), {1}), NumericalFailure);
}

}  // namespace
}  // namespace sfumato::lab
