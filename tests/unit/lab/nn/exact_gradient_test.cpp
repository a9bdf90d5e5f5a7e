// Hand-made values, edges and refusals; derivatives of all kinds of layers are in the property test.
#include "lab/nn/exact_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

using Vector = std::vector<double>;

// z = (w1 x, w2 x) + b: the gradient is (p - e_label) x.
const Network& two_logits() {
  static const Network net({1, 1, 1}, {{"fc", Linear{2}}});
  return net;
}

TEST(ExactGradient, TwoLogitsByHand) {
  const Vector x{2.0};
  const RecordGradient got = record_gradient(two_logits(), Vector{0.5, -0.25, 0.1, 0.2}, {x, 1});
  const double z0 = 1.1, z1 = -0.3, p0 = std::exp(z0) / (std::exp(z0) + std::exp(z1));
  EXPECT_DOUBLE_EQ(got.logits[0], z0);
  EXPECT_DOUBLE_EQ(got.logits[1], z1);
  EXPECT_NEAR(got.loss, -std::log(1.0 - p0), 1e-15);
  EXPECT_NEAR(got.gradient[0], 2.0 * p0, 1e-15);
  EXPECT_NEAR(got.gradient[1], -2.0 * p0, 1e-15);
  EXPECT_NEAR(got.gradient[2], p0, 1e-15);
  EXPECT_NEAR(got.gradient[3], -p0, 1e-15);
}

TEST(ExactGradient, StableForLogitsOfAnySize) {
  const Vector x{1.0};
  const RecordGradient wrong = record_gradient(two_logits(), Vector{1e4, -1e4, 0, 0}, {x, 1});
  EXPECT_DOUBLE_EQ(wrong.loss, 2e4);
  EXPECT_DOUBLE_EQ(wrong.gradient[0], 1.0);
  // Nearly certain: loss and gradient are e^-60, not the difference of two ones.
  const RecordGradient right = record_gradient(two_logits(), Vector{60, 0, 0, 0}, {x, 0});
  EXPECT_DOUBLE_EQ(right.loss, std::exp(-60.0));
  EXPECT_DOUBLE_EQ(right.gradient[0], -std::exp(-60.0));
  EXPECT_DOUBLE_EQ(right.gradient[1], std::exp(-60.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(record_gradient(two_logits(), Vector{nan, 0, 0, 0}, {x, 0}).loss));
}

// A 2 x 2 kernel with stride 2 and padding 1 on a 2 x 2 image sees one pixel at each corner.
TEST(ExactGradient, ConvolutionWithPaddingByHand) {
  const Network net({1, 2, 2},
                    {{"conv", Conv2d{1, 2, 2, 1}}, {"flatten", Flatten{}}, {"fc", Linear{4}}});
  Vector parameters(net.parameter_count());
  for (std::size_t i = 0; i < 4; ++i) parameters[i] = static_cast<double>(i + 1);  // kernel rows
  for (std::size_t i = 0; i < 4; ++i) parameters[5 + 5 * i] = 1.0;                 // identity
  const Vector x{10, 20, 30, 40};
  // Top left output: its window's bottom right weight (4) on the first pixel, and so on.
  EXPECT_EQ(record_gradient(net, parameters, {x, 0}).logits, (Vector{40, 60, 60, 40}));
}

TEST(ExactGradient, MaximaTakeTheFirstOfEqualsAndLeaveTheRestOut) {
  const Network net({1, 3, 3}, {{"pool", MaxPool2d{2}}, {"fc", Linear{2}}});
  const Vector x{1, 5, 9, 5, 5, 9, 9, 9, 9}, parameters{1, -1, 0, 0};
  EXPECT_EQ(record_gradient(net, parameters, {x, 0}).logits, (Vector{5, -5}));
  // Among equals the mixed derivative moves with the first: pixel 1.
  const Vector point = record_point(net, {x, 0});
  const Vector sensitivity = mixed_transposed_product(net, parameters, point, Vector{1, 0, 0, 0});
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(sensitivity[i] != 0.0, i == 1) << i;
}

TEST(ExactGradient, ReluIsFlatAtZero) {
  const Network net({1, 1, 1}, {{"a", Linear{1}}, {"relu", Relu{}}, {"b", Linear{2}}});
  const Vector x{1.0};
  const Vector gradient = record_gradient(net, Vector{0, 0, 1, -1, 0, 0}, {x, 0}).gradient;
  EXPECT_EQ(gradient[0], 0.0);
  EXPECT_EQ(gradient[1], 0.0);
}

TEST(ExactGradient, BatchesAndEmptySlots) {
  const Vector x{2.0}, y{-1.0}, parameters{0.5, -0.25, 0.1, 0.2};
  const std::vector<LabelledRecord> records{{x, 0}, {{}, 0}, {y, 1}};
  const RecordGradient a = record_gradient(two_logits(), parameters, records[0]);
  const RecordGradient b = record_gradient(two_logits(), parameters, records[2]);
  const BatchGradient sum = batch_gradient(two_logits(), parameters, records, LossScale::sum);
  const BatchGradient mean = batch_gradient(two_logits(), parameters, records, LossScale::mean);
  EXPECT_DOUBLE_EQ(sum.loss, a.loss + b.loss);
  EXPECT_DOUBLE_EQ(mean.loss, (a.loss + b.loss) / 3.0);
  const Eigen::MatrixXd rows = record_gradients(two_logits(), parameters, records);
  ASSERT_EQ(rows.rows(), 3);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(sum.gradient[i], a.gradient[i] + b.gradient[i]);
    EXPECT_DOUBLE_EQ(mean.gradient[i], (a.gradient[i] + b.gradient[i]) / 3.0);
    const auto column = static_cast<Eigen::Index>(i);
    EXPECT_EQ(rows(0, column), a.gradient[i]);
    EXPECT_EQ(rows(1, column), 0.0);
    EXPECT_EQ(rows(2, column), b.gradient[i]);
  }
  EXPECT_EQ(batch_gradient(two_logits(), parameters, {}, LossScale::sum).loss, 0.0);
  // The Hessian of the mean is a third of that of the sum.
  const Vector v{1, 2, 3, 4};
  const Vector h = hessian_product(two_logits(), parameters, records, LossScale::sum, v);
  const Vector h3 = hessian_product(two_logits(), parameters, records, LossScale::mean, v);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(h3[i], h[i] / 3.0);
}

TEST(ExactGradient, Refusals) {
  const Vector x{2.0}, two{1, 2}, four{1, 2, 3, 4};
  const std::vector<LabelledRecord> one{{x, 0}}, wrong{{two, 0}};
  const Network& net = two_logits();
  EXPECT_THROW((void)record_gradient(net, two, one[0]), InvalidArgument);
  EXPECT_THROW((void)record_gradient(net, four, {two, 0}), InvalidArgument);
  EXPECT_THROW((void)record_gradient(net, four, {{}, 0}), InvalidArgument);
  EXPECT_THROW((void)record_gradient(net, four, {x, 2}), InvalidArgument);
  EXPECT_THROW((void)batch_gradient(net, four, wrong, LossScale::sum), InvalidArgument);
  EXPECT_THROW((void)batch_gradient(net, four, {}, LossScale::mean), InvalidArgument);
  EXPECT_THROW((void)hessian_product(net, four, one, LossScale::sum, two), InvalidArgument);
  EXPECT_THROW((void)record_gradients(net, two, one), InvalidArgument);
  EXPECT_THROW((void)record_point(net, {two, 0}), InvalidArgument);
  const Vector point = record_point(net, one[0]);
  EXPECT_THROW((void)point_gradient(net, four, x), InvalidArgument);
  EXPECT_THROW((void)mixed_product(net, four, point, x), InvalidArgument);
  EXPECT_THROW((void)mixed_transposed_product(net, four, point, x), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
