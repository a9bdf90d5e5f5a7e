#include "lab/nn/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace sfumato::lab {
namespace {

std::string message(const Shape& input, std::vector<NamedLayer> layers) {
  try {
    (void)Network(input, std::move(layers));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Network, PresetsHaveThePapersSizes) {
  EXPECT_EQ(preset_network("mlp-10").parameter_count(), 784U * 10 + 10 + 110);
  EXPECT_EQ(preset_network("mlp-30").parameter_count(), 784U * 30 + 30 + 310);
  EXPECT_EQ(preset_network("mlp-100").parameter_count(), 784U * 100 + 100 + 1010);
  const Network lenet = preset_network("lenet");
  EXPECT_EQ(lenet.parameter_count(), 62006U);  // LeNet on three channels, well known
  EXPECT_EQ(lenet.before(7).text(), "400");
  EXPECT_EQ(lenet.after(2).text(), "6 x 14 x 14");
  EXPECT_EQ(lenet.classes(), 10U);
  for (const std::string& name : preset_names()) EXPECT_NO_THROW((void)preset_network(name));
}

TEST(Network, ArithmeticOfOneGradient) {
  EXPECT_EQ(preset_network("mlp-10").gradient_flops(), 4.0 * 7840 + 6.0 * 100);
  const double convolutions = 4.0 * 450 * 784 + 6.0 * 2400 * 100;
  EXPECT_EQ(preset_network("lenet").gradient_flops(), convolutions + 6.0 * (48000 + 10080 + 840));
}

TEST(Network, NamesOfParameters) {
  const Network net = preset_network("mlp-10");
  EXPECT_EQ(net.parameter_name(0), "fc1.weight[0, 0]");
  EXPECT_EQ(net.parameter_name(10), "fc1.weight[1, 0]");
  EXPECT_EQ(net.parameter_name(7840), "fc1.bias[0]");
  EXPECT_EQ(net.parameter_name(7850), "fc2.weight[0, 0]");
  EXPECT_EQ(net.parameter_name(net.parameter_count() - 1), "fc2.bias[9]");
  EXPECT_THROW((void)net.parameter_name(net.parameter_count()), InvalidArgument);
}

TEST(Network, LayersThatDoNotFitAreNamedWithBothShapes) {
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(message({3, 32, 32}, {{"fc", Linear{10}}}),
       "layer `fc` is linear, its input is 3 x 32 x 32");
  says(message({1, 4, 4}, {{"c", Conv2d{2, 5}}}), "5 x 5 kernel, its input is 1 x 4 x 4");
  says(message({1, 4, 4}, {{"p", MaxPool2d{5}}}), "pools 5 x 5 pixels, its input is 1 x 4 x 4");
  says(message({4, 1, 1}, {{"a", Linear{0}}}), "`a` has outputs = 0");
  says(message({784, 1, 1}, {{"a", Linear{1'000'000}}}),
       "takes the network to 785000000 parameters");
  says(message({1, 28, 28}, {{"a", Conv2d{1'000'000, 3, 1, 10}}}), "numbers per record");
  says(message({1, 4, 4}, {{"c", Conv2d{2, 3, 0}}}), "stride = 0");
  says(message({1, 4, 4}, {{"c", Conv2d{2, 3, 1, -1}}}), "padding = -1");
  says(message({4, 1, 1}, {{"a", Linear{3}}, {"a", Linear{3}}}), "two layers are named `a`");
  says(message({4, 1, 1}, {{"", Linear{3}}}), "layer 1 has no name");
  const FixedMap nine{std::make_shared<const std::vector<float>>(9, 1.0F)};
  says(message({3, 1, 1}, {{"m", nine}, {"a", Linear{3}}}),
       "`m` is a fixed map before the first layer with parameters");
  says(message({3, 1, 1}, {{"a", Linear{4}}, {"m", nine}, {"b", Linear{3}}}),
       "`m` is a fixed map of another width than 4");
  says(message({1, 4, 4}, {{"c", Conv2d{1, 1}},
                           {"m", FixedMap{nine.matrix, Conv2d{3, 2}}},
                           {"f", Flatten{}},
                           {"b", Linear{3}}}),
       "`m` is a fixed map of another width than 4");
  says(message({3, 1, 1}, {{"a", Linear{3}}, {"m", FixedMap{}}, {"b", Linear{3}}}), "fixed map");
  says(message({4, 1, 1}, {{"r", Relu{}}}), "no parameters");
  says(message({1, 4, 4}, {{"c", Conv2d{2, 3}}}), "not in the logits");
  says(message({4, 1, 1}, {{"a", Linear{1}}}), "not in the logits");
  says(message({0, 1, 1}, {{"a", Linear{3}}}), "input is empty");
  try {
    (void)preset_network("lenett");
    FAIL();
  } catch (const InvalidArgument& error) {
    says(error.what(), "Did you mean `lenet`?");
  }
}

}  // namespace
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
