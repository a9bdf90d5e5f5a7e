#include "sfumato/account/steps/group_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "support/accounting_reference.hpp"

namespace sfumato {
namespace {

using reference::Real;
using enum StepDirection;

/// delta of one step by brute force: the integral of (r_g - e^eps)_+ phi, or of (1 - e^eps r_g)_+ phi.
double one_step(double q, double m, int g, StepDirection direction, double eps) {
  constexpr double kStep = 1.0 / 512;
  long double sum = 0.0L;
  for (double z = -12.0; z <= 12.0 + g * m; z += kStep) {
    long double r = 0.0L, binomial = 1.0L;
    for (int j = 0; j <= g; ++j) {
      r += binomial * std::pow(static_cast<long double>(q), j) *
           std::pow(1.0L - static_cast<long double>(q), g - j) *
           std::exp(static_cast<long double>(j * m * z - 0.5 * j * j * m * m));
      binomial = binomial * (g - j) / (j + 1);
    }
    const long double e = std::exp(static_cast<long double>(eps));
    const long double gain = direction == remove ? r - e : 1.0L - e * r;
    if (gain > 0) sum += gain * std::exp(-0.5L * z * z);
  }
  return static_cast<double>(sum * kStep / std::sqrt(2.0L * std::acos(-1.0L)));
}

TEST(GroupGaussian, OneStepIsItsIntegral) {
  for (const auto& [q, m, g] : {std::tuple{.1, .5, 2}, {.02, 1.0, 4}, {.3, .2, 7}}) {
    for (const StepDirection direction : {remove, add}) {
      for (const double eps : {0.0, 0.05}) {
        const double truth = one_step(q, m, g, direction, eps);
        const DeltaEnclosure found = delta_of({{GroupGaussian{q, m, g, 1, direction}}}, eps);
        EXPECT_LE(found.lo(), truth * (1.0 + 1e-4)) << q << " " << g << " " << eps;
        EXPECT_GE(found.hi(), truth * (1.0 - 1e-4)) << q << " " << g << " " << eps;
        EXPECT_LT(found.hi() - found.lo(), 1e-5 * found.hi()) << q << " " << g << " " << eps;
      }
    }
  }
}

TEST(GroupGaussian, OfOneIsASampledStep) {
  for (const double eps : {0.1, 1.0}) {
    const LogEnclosure group = delta_of({{GroupGaussian{.01, 1.0, 1, 100, remove}}}, eps).log;
    const LogEnclosure one = delta_of({{SampledGaussian{.01, 1.0, 100, remove}}}, eps).log;
    EXPECT_LE(std::max(group.log_lo, one.log_lo), std::min(group.log_hi, one.log_hi));
  }
}

TEST(GroupGaussian, RefusesWhatIsNone) {
  EXPECT_NO_THROW((GroupGaussian{.1, 1, 2, 3, add}.require_valid()));
  EXPECT_THROW((GroupGaussian{.1, 1, 0, 3, add}.require_valid()), InvalidArgument);
  EXPECT_THROW((GroupGaussian{.1, 1, 2, 3, replace}.require_valid()), InvalidArgument);
  EXPECT_THROW((GroupGaussian{0.0, 1, 2, 3, add}.require_valid()), InvalidArgument);
  // Without any of the records: at most -g log(1 - q) is shown by adding them.
  EXPECT_NEAR((GroupGaussian{.1, 1, 2, 3, add}.highest_loss()), -2.0 * std::log1p(-.1), 1e-14);
  EXPECT_EQ((GroupGaussian{.1, 1, 2, 3, remove}.highest_loss()), kInf);
}

}  // namespace
}  // namespace sfumato
