// Values by hand, where bounds are tight or fail, and refusals.
#include "lab/nn/flatness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

using Vector = std::vector<double>;

// Logits (w x + b) of two classes at p = 1/2: the Hessian is 1/4 [[1,-1],[-1,1]] (x) (x,1)(x,1)^T, so its
// trace is (x^2 + 1)/2, which is also its only eigenvalue.
TEST(Flatness, TwoLogitsByHand) {
  const Network net({1, 1, 1}, {{"fc", Linear{2}}});
  const Vector x{2.0}, zero(4, 0.0);
  const std::vector<LabelledRecord> records{{x, 0}};
  const MonteCarloMean trace = hessian_trace(net, zero, records, LossScale::sum, 2000, 3).value;
  EXPECT_NEAR(trace.value, 2.5, 5.0 * trace.standard_error);
  EXPECT_LT(trace.standard_error, 0.2);
  const auto largest = largest_hessian_eigenvalue(net, zero, records, LossScale::sum);
  EXPECT_NEAR(largest.value.value, 2.5, 1e-12);
  EXPECT_LT(largest.value.residual, 1e-10);
  EXPECT_EQ(hessian_trace(net, zero, records, LossScale::sum, 1, 3).value.standard_error,
            std::numeric_limits<double>::infinity());
}

// With w = 0 the gradient (p - e) (x, 1) is linear in x: the segment's bound is attained.
TEST(Flatness, BoundIsAttainedByALinearGradient) {
  const Network net({2, 1, 1}, {{"fc", Linear{2}}});
  const Vector x{1.0, 2.0}, y{4.0, -2.0}, zero(6, 0.0);
  const RecordSensitivity got = record_sensitivity(net, zero, {x, 0}, {y, 0}, 5).value;
  EXPECT_DOUBLE_EQ(got.distance, 5.0);
  EXPECT_NEAR(got.gradient_difference, 5.0 * std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(got.bound, got.gradient_difference, 1e-12);
  EXPECT_TRUE(got.respected);
  const auto same = record_sensitivity(net, zero, {x, 1}, {x, 1}, 2);
  EXPECT_EQ(same.value.gradient_difference, 0.0);
  EXPECT_EQ(same.value.bound, 0.0);
  EXPECT_TRUE(same.value.respected);
  EXPECT_EQ(same.claim, Claim::estimate);
}

// A ReLU unit that is off at one record and barely on at the other: the first layer's gradient jumps
// although the records are close. Reported, and the switch is counted.
TEST(Flatness, AJumpOfReluBreaksTheBoundAndIsReported) {
  const Network net({1, 1, 1}, {{"a", Linear{1}}, {"relu", Relu{}}, {"b", Linear{2}}});
  const Vector parameters{1.0, 0.0, 1.0, -1.0, 0.0, 0.0}, off{-1e-3}, on{1e-3};
  const RecordSensitivity got = record_sensitivity(net, parameters, {off, 0}, {on, 0}).value;
  EXPECT_EQ(got.switches, 1U);
  EXPECT_GT(got.gradient_difference, 0.9);
  EXPECT_LT(got.bound, 0.1);
  EXPECT_FALSE(got.respected);
}

TEST(Flatness, Refusals) {
  const Network net({1, 1, 1}, {{"fc", Linear{2}}});
  const Vector x{2.0}, four(4, 0.5), three(3, 0.5);
  const Vector nan(4, std::numeric_limits<double>::quiet_NaN());
  const std::vector<LabelledRecord> records{{x, 0}};
  EXPECT_THROW((void)hessian_trace(net, four, records, LossScale::sum, 0, 1), InvalidArgument);
  EXPECT_THROW((void)hessian_trace(net, three, records, LossScale::sum, 5, 1), InvalidArgument);
  EXPECT_THROW((void)hessian_trace(net, four, {}, LossScale::mean, 5, 1), InvalidArgument);
  EXPECT_THROW((void)hessian_trace(net, nan, records, LossScale::sum, 5, 1), NumericalFailure);
  EXPECT_THROW((void)largest_hessian_eigenvalue(net, nan, records, LossScale::sum),
               NumericalFailure);
  EXPECT_THROW((void)mixed_derivative_norm(net, four, x, RecordMoves::values), InvalidArgument);
  EXPECT_THROW((void)record_sensitivity(net, four, {x, 0}, {x, 1}, 1), InvalidArgument);
  EXPECT_THROW((void)record_sensitivity(net, four, {x, 0}, {four, 1}), InvalidArgument);
  EXPECT_THROW((void)record_sensitivity(net, four, {x, 0}, {x, 2}), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
