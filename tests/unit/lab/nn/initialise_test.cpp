#include "lab/nn/initialise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato::lab {
namespace {

// Uniform on +-b has variance b^2/3 and fourth moment b^4/5. Thresholds: 5 standard errors, so
// that each of the eight comparisons fails with probability 6e-7 for a seed taken at random.
TEST(InitialParameters, MomentsAndBoundsOfEachLayer) {
  const Network net = preset_network("lenet");
  const std::vector<float> parameters = initial_parameters(net, 7);
  ASSERT_EQ(parameters.size(), net.parameter_count());
  for (const ParameterBlock& block : net.blocks()) {
    const float bound = static_cast<float>(1.0 / std::sqrt(static_cast<double>(block.inputs)));
    double sum = 0.0, squares = 0.0;
    float largest = 0.0F;
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      largest = std::max(largest, std::abs(parameters[i]));
      const double share = static_cast<double>(parameters[i] / bound);
      sum += share;
      squares += share * share;
    }
    const auto count = static_cast<double>(block.size());
    EXPECT_LE(largest, bound);
    EXPECT_GT(largest, 0.97F * bound);
    EXPECT_NEAR(sum / count, 0.0, 5.0 * std::sqrt(1.0 / 3.0 / count));
    EXPECT_NEAR(squares / count, 1.0 / 3.0, 5.0 * std::sqrt((1.0 / 5.0 - 1.0 / 9.0) / count));
  }
}

TEST(InitialParameters, BiasesHaveTheBoundOfTheirLayer) {
  const Network net({4, 1, 1}, {{"a", Linear{1000}}, {"b", Linear{1000}}});
  const std::vector<float> parameters = initial_parameters(net, 1);
  const auto largest_bias = [&](const ParameterBlock& block) {
    float largest = 0.0F;
    for (std::size_t i = block.bias(); i < block.bias() + block.outputs; ++i) {
      largest = std::max(largest, std::abs(parameters[i]));
    }
    return largest;
  };
  EXPECT_NEAR(largest_bias(net.blocks()[0]), 0.5F, 0.01F);
  EXPECT_NEAR(largest_bias(net.blocks()[1]), 0.0316F, 0.0006F);
}

TEST(InitialParameters, PureInTheSeed) {
  const Network net = preset_network("mlp-10");
  EXPECT_EQ(initial_parameters(net, 3), initial_parameters(net, 3));
  EXPECT_NE(initial_parameters(net, 3), initial_parameters(net, 4));
  // Addressed by parameter: the first layer does not depend on what follows it.
  const std::vector<float> a = initial_parameters(net, 3);
  const std::vector<float> b = initial_parameters(
      Network({1, 28, 28}, {{"flatten", Flatten{}}, {"fc1", Linear{10}}, {"fc2", Linear{3}}}), 3);
  for (std::size_t i = 0; i < 7850; ++i) EXPECT_EQ(a[i], b[i]);
}

}  // namespace
}  // namespace sfumato::lab
