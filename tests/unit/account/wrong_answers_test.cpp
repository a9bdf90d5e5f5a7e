// Answers of other formulas and programs that are known to be wrong: the accountant's lower end has to exclude them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/lattice/pld.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TotalLoss poisson(double q, double sigma, double k, StepDirection direction = remove) {
  return {{SampledGaussian{q, 1.0 / sigma, k, direction}}};
}
TotalLoss gaussian(double mu) {
  TotalLoss loss;
  loss.mu_squared = mu * mu;
  return loss;
}

TEST(WrongAnswers, ClassicalGaussianFormulaAtLargeEpsilon) {
  // sigma = sqrt(2 log(1.25/delta)) / eps is proven for eps <= 1.
  const double delta = 1e-5, eps = 20.0;
  const double sigma = std::sqrt(2.0 * std::log(1.25 / delta)) / eps;
  EXPECT_GT(delta_of(gaussian(1.0 / sigma), eps).lo(), 100.0 * delta);
}

TEST(WrongAnswers, RenyiFormulaAboveItsOrders) {
  // D_a = q^2 a / sigma^2 holds for small orders a only; used at the order that suits best it promises 4.69.
  const double q = 0.01, sigma = 0.5, steps = 1000.0, delta = 1e-5;
  const double slope = steps * q * q / (sigma * sigma);
  const double wrong = slope + 2.0 * std::sqrt(slope * std::log(1.0 / delta));
  EXPECT_NEAR(wrong, 4.69, 0.01);
  const EpsilonEnclosure truth = epsilon_of(poisson(q, sigma, steps), delta);
  EXPECT_NEAR(truth.lo, 13.36, 0.01);
  EXPECT_GT(truth.lo, 2.5 * wrong);
}

TEST(WrongAnswers, PessimisticDeltaOfATransformWithoutTilt) {
  // dp-accounting 0.6.0, value_discretization_interval 1e-4: 17 % below the truth, 2.54093e-13.
  const double wrong = 2.118e-13;
  EXPECT_GT(delta_of(poisson(0.001, 1.0, 1000.0), 1.0).lo(), 1.19 * wrong);
  EXPECT_GT(pld_delta(poisson(0.001, 1.0, 1000.0), 1.0).log_lo, std::log(1.19 * wrong));
}

TEST(WrongAnswers, TheWorseDirectionStepByStep) {
  // Batches of fixed size: for e^eps >= 1 one direction of a step is the worst, for e^eps < 1 the other. Composing each by itself and taking the
  // larger is no bound; the pair that has both is (Spec §17.3). Known values: 3.35e-5 and 3.03e-4.
  const double m = 2.0 / 4.0, k = 1e4, eps = 2.0;
  const double wrong = std::max(delta_of({{SampledGaussian{0.01, m, k, remove}}}, eps).hi(),
                                delta_of({{SampledGaussian{0.01, m, k, add}}}, eps).hi());
  EXPECT_NEAR(wrong, 3.35e-5, 0.01e-5);
  const double truth = delta_of({{TwoSidedGaussian{0.01, m, k}}}, eps).lo();
  EXPECT_NEAR(truth, 3.03e-4, 0.01e-4);
  const LogEnclosure second = pld_delta({{TwoSidedGaussian{0.01, m, k}}}, eps);
  EXPECT_GT(second.log_lo, std::log(8.0 * wrong));
}

TEST(WrongAnswers, DirectionsMixedInOneLedger) {
  // A ledger is composed in one direction as a whole. Its entries may not swap sides one by one: `remove` here and `add` there is
  // the loss of no pair of data sets, and it is smaller.
  const TotalLoss whole{
      {SampledGaussian{0.01, 1.0, 500, remove}, SampledGaussian{0.02, 0.5, 500, remove}}};
  const TotalLoss mixed{
      {SampledGaussian{0.01, 1.0, 500, add}, SampledGaussian{0.02, 0.5, 500, remove}}};
  EXPECT_GT(delta_of(whole, 1.0).lo(), 1.1 * delta_of(mixed, 1.0).hi());
}

TEST(WrongAnswers, ShuffledBatchesAsPoisson) {
  // 10 epochs of 100 batches, sigma = 1: sqrt(10)-GDP is what is proven, and what one gets if the record's batch is known.
  const double wrong = epsilon_of(poisson(0.01, 1.0, 1000.0), 1e-5).hi;
  const double truth = epsilon_of(gaussian(std::sqrt(10.0)), 1e-5).lo;
  EXPECT_NEAR(wrong, 1.828, 0.001);
  EXPECT_GT(truth, 9.0 * wrong);
}

TEST(WrongAnswers, PerTensorClipAsGlobal) {
  // Each of 16 tensors is clipped to C, the noise is sigma C: the record contributes 4 C, not C.
  const double wrong = epsilon_of(poisson(0.01, 2.0, 1000.0), 1e-5).hi;
  const double truth = epsilon_of(poisson(0.01, 2.0 / 4.0, 1000.0), 1e-5).lo;
  EXPECT_GT(truth, 10.0 * wrong);
}

}  // namespace
}  // namespace sfumato
