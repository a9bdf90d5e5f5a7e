#include "lab/nn/noise_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sfumato::lab {
namespace {

Network tiny() { return Network({2, 1, 1}, {{"fc", Linear{2}}}); }

NoiseShape shape(std::vector<float> variances) {
  return {std::make_shared<const std::vector<float>>(std::move(variances))};
}

FixedNoise fixed(std::vector<float> variances = {1, 2, 3, 4, 5, 6}) {
  return {{0.25}, shape(std::move(variances))};
}

/// One of each without clips, of variance 0.25.
std::vector<NoiseRule> rules() {
  return {NoNoise{},
          IsotropicNoise{{0.25}},
          PerLayerNoise{{0.25}},
          AnisotropicNoise{{0.25}},
          FlooredNoise{{0.25}, 0.5},
          fixed()};
}

/// The formulas of the header, one by one.
TEST(NoisePolicy, StepVariances) {
  const std::vector<double> g = {0.1, -0.8, 0.0, 0.4, -1.0, 0.2};  // four weights, two biases
  const Network network = tiny();
  const auto of = [&](const NoiseRule& rule) {
    return step_variances({"test", rule}, {network, 0.1, g});
  };
  EXPECT_EQ(of(NoNoise{}), std::vector<double>(6, 0.0));
  EXPECT_EQ(of(IsotropicNoise{{0.25}}), std::vector<double>(6, 0.25));
  EXPECT_EQ(of(PerLayerNoise{{0.25}}), std::vector<double>(6, 0.25));
  EXPECT_EQ(of(PerLayerNoise{{0.25}, false}),
            (std::vector<double>{0.2, 0.2, 0.2, 0.2, 0.25, 0.25}));
  EXPECT_EQ(of(AnisotropicNoise{{0.25}}), (std::vector<double>{0.025, 0.2, 0.0, 0.1, 0.25, 0.05}));
  EXPECT_EQ(of(FlooredNoise{{0.25}, 0.5}),
            (std::vector<double>{0.125, 0.2, 0.125, 0.125, 0.25, 0.125}));
  EXPECT_EQ(of(fixed()), (std::vector<double>{0.25, 0.5, 0.75, 1, 1.25, 1.5}));
  const auto read = [&](NoiseInterpretation interpretation) {
    return of(AnisotropicNoise{{0.25, interpretation}})[1];
  };
  EXPECT_DOUBLE_EQ(read(NoiseInterpretation::deviation), 0.2 * 0.2);
  EXPECT_DOUBLE_EQ(read(NoiseInterpretation::times_learning_rate), 0.2 * 0.01);
  EXPECT_DOUBLE_EQ(read(NoiseInterpretation::times_root_learning_rate), 0.2 * 0.1);
}

/// What the engine computes from the coefficients is the same.
TEST(NoisePolicy, CoefficientsGiveTheSameVariances) {
  using enum NoiseInterpretation;
  const std::vector<double> g = {0.1, -0.8, 0.0, 0.4, -1.0, 0.2};
  const Network network = tiny();
  std::vector<NoiseRule> all = rules();
  all.emplace_back(PerLayerNoise{{0.25}, false});
  for (NoiseRule& rule : all) {
    for (const NoiseInterpretation interpretation :
         {variance, deviation, times_learning_rate, times_root_learning_rate}) {
      if (ScaledNoise* scale = scaled_noise(rule)) scale->interpretation = interpretation;
      const NoisePolicy p{"test", rule};
      const NoiseShape* given = shape_of(rule);
      if (interpretation == deviation &&
          (std::holds_alternative<FlooredNoise>(rule) || given != nullptr)) {
        EXPECT_THROW(require_valid(p, network), InvalidArgument);
        continue;
      }
      EXPECT_NO_THROW(require_valid(p, network));
      const BlockScales scales = noise_scales(p, 0.1, 0.8F, 1.0F);
      const std::vector<double> expected = step_variances(p, {network, 0.1, g});
      for (std::size_t i = 0; i < 6; ++i) {
        const NoiseScale& s = i < 4 ? scales.weights : scales.biases;
        const auto d = [](float x) { return static_cast<double>(x); };
        const double own = given != nullptr ? d((*given->variances)[i]) : 0.0;
        EXPECT_NEAR(d(s.gradient_factor) * std::max(std::fabs(g[i]), d(s.floor)) +
                        d(s.square_factor) * g[i] * g[i] + d(s.constant) + d(s.fixed_factor) * own,
                    expected[i], 1e-7)
            << name(rule) << " " << name(interpretation) << " " << i;
      }
    }
  }
}

TEST(NoisePolicy, RefusesWhatHasNoMeaning) {
  const Network network = tiny();
  const auto says = [&](const NoiseRule& rule, const std::string& part) {
    std::string text = "accepted";
    try {
      require_valid({"test", rule}, network);
    } catch (const InvalidArgument& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(IsotropicNoise{{-1.0}}, "policy \"test\": variance = -1");
  says(IsotropicNoise{{std::numeric_limits<double>::quiet_NaN()}}, "nan");
  says(AnisotropicNoise{{0.0}}, "Use the policy `none`");
  says(FlooredNoise{{0.25}, 0.0}, "floor = 0");
  says(fixed({1, 1, 1, 1, 1}), "is for 5 parameters, the network has 6");
  says(fixed({1, 1, -1, 1, 1, 1}), "variance of fc.weight[1, 0] is -1");
  says(FixedNoise{{0.25}}, "has no covariance");
  for (const NoiseRule& rule : rules()) {
    EXPECT_NE(what_a_guarantee_needs(rule).find("guarantee"), std::string::npos);
  }
}

}  // namespace
}  // namespace sfumato::lab
