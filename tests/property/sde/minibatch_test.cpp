// Spec §14.8: the covariance equals the enumeration over all batches.
#include "sfumato/sde/minibatch.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "sfumato/sde/family/callable.hpp"
#include "sfumato/sde/problem/classification.hpp"
#include "support/random_problem.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::RandomProblem;

/// Covariance over all sequences of `batch` rows, equally likely, in which rows repeat or not.
MatrixXd enumerate(const MatrixXd& gradients, const MinibatchOptions& options) {
  const Index n = gradients.rows();
  const Index d = gradients.cols();
  const double scale = (options.loss == LossScale::sum ? static_cast<double>(n) : 1.0) /
                       static_cast<double>(options.batch);
  Index total = 1;
  for (Index k = 0; k < options.batch; ++k) total *= n;
  VectorXd mean = VectorXd::Zero(d);
  MatrixXd second = MatrixXd::Zero(d, d);
  double count = 0.0;
  for (Index code = 0; code < total; ++code) {
    std::vector<bool> used(static_cast<std::size_t>(n), false);
    VectorXd estimate = VectorXd::Zero(d);
    bool repeats = false;
    Index rest = code;
    for (Index k = 0; k < options.batch; ++k, rest /= n) {
      const auto row = static_cast<std::size_t>(rest % n);
      repeats = repeats || used[row];
      used[row] = true;
      estimate += scale * gradients.row(rest % n).transpose();
    }
    if (repeats && options.sampling == BatchSampling::without_replacement) continue;
    count += 1.0;
    mean += estimate;
    second += estimate * estimate.transpose();
  }
  mean /= count;
  return second / count - mean * mean.transpose();
}

TEST(Minibatch, EqualsTheEnumerationOfAllBatches) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const Index n = random.integer(1, 6);
    const MatrixXd gradients = random.matrix(n, random.integer(1, 4));
    const MinibatchOptions options{random.integer(1, std::min(4, static_cast<int>(n))),
                                   random.integer(0, 1) == 0 ? BatchSampling::with_replacement
                                                             : BatchSampling::without_replacement,
                                   random.integer(0, 1) == 0 ? LossScale::sum : LossScale::mean};
    const MatrixXd found = dense(minibatch_covariance(gradients, options));
    const MatrixXd exact = enumerate(gradients, options);
    EXPECT_LT((found - exact).norm(), 1e-11 * (1.0 + static_cast<double>(n * n)));
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(found);
    EXPECT_GE(solver.eigenvalues()(0), -1e-14 * (1.0 + found.norm()));
  }
}

TEST(Minibatch, DivergenceMatchesDifferences) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblem random(seed);
    const Index p = random.integer(1, 3);
    const Index n = random.integer(2, 8);
    const bool binary = random.integer(0, 1) == 0;
    VectorXd labels(n);
    for (double& label : labels) label = random.integer(0, binary ? 1 : 2);
    const MatrixXd features = random.matrix(n, p);
    const auto problem = binary ? ClassificationProblem::logistic(features, labels, {})
                                : ClassificationProblem::softmax(features, labels, 3, {});
    const MinibatchOptions options{1 + random.integer(0, static_cast<int>(n) - 2)};
    const MatrixNoise noise = minibatch_noise(problem.row_losses(), options, 0.1, 0.2);
    const MatrixNoise numerical = with_numerical_divergence(noise.covariance);
    const VectorXd at = random.vector(problem.parameters());
    const VectorXd exact = noise.divergence(0.0, at);
    EXPECT_LT((exact - numerical.divergence(0.0, at)).norm(),
              1e-8 * (1.0 + noise.covariance(0.0, at).norm()));
    const MatrixXd expected = dense(minibatch_diffusion_covariance(
                                  minibatch_covariance(problem.row_gradients(at), options), 0.1)) +
                              0.2 * MatrixXd::Identity(at.size(), at.size());
    EXPECT_LT((noise.covariance(0.0, at) - expected).norm(), 1e-13 * expected.norm());
  }
}

}  // namespace
}  // namespace sfumato
