#include "lab/nn/noise_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sfumato::lab {
namespace {

Network tiny() { return Network({2, 1, 1}, {{"fc", Linear{2}}}); }

NoisePolicy policy(NoiseKind kind, double variance = 0.25) {
  NoisePolicy p;
  p.name = "test";
  p.kind = kind;
  p.variance = variance;
  if (kind == NoiseKind::floored) p.floor = 0.5;
  if (kind == NoiseKind::fixed) {
    p.fixed = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  }
  return p;
}

constexpr NoiseKind kKinds[] = {
    NoiseKind::none,        NoiseKind::isotropic, NoiseKind::isotropic_per_layer,
    NoiseKind::anisotropic, NoiseKind::floored,   NoiseKind::fixed};

/// The formulas of the header, one by one.
TEST(NoisePolicy, StepVariances) {
  const std::vector<double> g = {0.1, -0.8, 0.0, 0.4, -1.0, 0.2};  // four weights, two biases
  const Network network = tiny();
  const auto of = [&](const NoisePolicy& p) { return step_variances(p, 0.1, network, g); };
  EXPECT_EQ(of(policy(NoiseKind::none, 0)), std::vector<double>(6, 0.0));
  EXPECT_EQ(of(policy(NoiseKind::isotropic)), std::vector<double>(6, 0.25));
  EXPECT_EQ(of(policy(NoiseKind::isotropic_per_layer)), std::vector<double>(6, 0.25));
  NoisePolicy apart = policy(NoiseKind::isotropic_per_layer);
  apart.bias_in_layer = false;
  EXPECT_EQ(of(apart), (std::vector<double>{0.2, 0.2, 0.2, 0.2, 0.25, 0.25}));
  EXPECT_EQ(of(policy(NoiseKind::anisotropic)),
            (std::vector<double>{0.025, 0.2, 0.0, 0.1, 0.25, 0.05}));
  EXPECT_EQ(of(policy(NoiseKind::floored)),
            (std::vector<double>{0.125, 0.2, 0.125, 0.125, 0.25, 0.125}));
  EXPECT_EQ(of(policy(NoiseKind::fixed)), (std::vector<double>{0.25, 0.5, 0.75, 1, 1.25, 1.5}));
  NoisePolicy read = policy(NoiseKind::anisotropic);
  read.reading = NoiseReading::deviation;
  EXPECT_DOUBLE_EQ(of(read)[1], 0.2 * 0.2);
  read.reading = NoiseReading::times_learning_rate;
  EXPECT_DOUBLE_EQ(of(read)[1], 0.2 * 0.01);
  read.reading = NoiseReading::times_root_learning_rate;
  EXPECT_DOUBLE_EQ(of(read)[1], 0.2 * 0.1);
}

/// What the engine computes from the coefficients is the same.
TEST(NoisePolicy, CoefficientsGiveTheSameVariances) {
  const std::vector<double> g = {0.1, -0.8, 0.0, 0.4, -1.0, 0.2};
  for (const NoiseKind kind : kKinds) {
    for (const NoiseReading reading :
         {NoiseReading::variance, NoiseReading::deviation, NoiseReading::times_learning_rate,
          NoiseReading::times_root_learning_rate}) {
      for (const bool together : {true, false}) {
        NoisePolicy p = policy(kind, kind == NoiseKind::none ? 0.0 : 0.25);
        p.reading = reading;
        p.bias_in_layer = together;
        if (reading == NoiseReading::deviation &&
            (kind == NoiseKind::floored || kind == NoiseKind::fixed)) {
          EXPECT_THROW(require_valid(p, tiny()), InvalidArgument);
          continue;
        }
        EXPECT_NO_THROW(require_valid(p, tiny()));
        const BlockScales scales = noise_scales(p, 0.1, 0.8F, 1.0F);
        const std::vector<double> expected = step_variances(p, 0.1, tiny(), g);
        for (std::size_t i = 0; i < 6; ++i) {
          const NoiseScale& s = i < 4 ? scales.weights : scales.biases;
          const auto d = [](float x) { return static_cast<double>(x); };
          const double fixed = p.fixed ? d((*p.fixed)[i]) : 0.0;
          EXPECT_NEAR(d(s.gradient_factor) * std::max(std::fabs(g[i]), d(s.floor)) +
                          d(s.square_factor) * g[i] * g[i] + d(s.constant) +
                          d(s.fixed_factor) * fixed,
                      expected[i], 1e-7)
              << name(kind) << " " << name(reading) << " " << i;
        }
      }
    }
  }
}

TEST(NoisePolicy, RefusesWhatHasNoMeaning) {
  const Network network = tiny();
  const auto message = [&](NoisePolicy p) -> std::string {
    try {
      require_valid(p, network);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(message(policy(NoiseKind::isotropic, -1.0)), "policy \"test\": variance = -1");
  says(message(policy(NoiseKind::isotropic, std::numeric_limits<double>::quiet_NaN())), "nan");
  says(message(policy(NoiseKind::anisotropic, 0.0)), "Use the policy `none`");
  NoisePolicy p = policy(NoiseKind::floored);
  p.floor = 0.0;
  says(message(p), "floor = 0");
  p = policy(NoiseKind::fixed);
  p.fixed = std::make_shared<const std::vector<float>>(5, 1.0F);
  says(message(p), "is for 5 parameters, the network has 6");
  p.fixed = std::make_shared<const std::vector<float>>(std::vector<float>{1, 1, -1, 1, 1, 1});
  says(message(p), "variance of fc.weight[1, 0] is -1");
  p.fixed = nullptr;
  says(message(p), "has no covariance");
  for (const NoiseKind kind : kKinds) {
    EXPECT_NE(what_a_guarantee_needs(policy(kind)).find("guarantee"), std::string::npos);
  }
}

}  // namespace
}  // namespace sfumato::lab
