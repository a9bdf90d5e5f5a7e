#include "sfumato/account/contour/total_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {
namespace {

using enum StepDirection;

TEST(TotalLoss, TheLargestLossIsThatOfTheStepsTogether) {
  // A step that adds a record has losses up to -log(1 - q); randomised response has eps0.
  TotalLoss loss{{SampledGaussian{.1, 1, 7, add}, RandomisedResponse{.5, 3}}};
  EXPECT_NEAR(highest_loss(loss), -7.0 * std::log1p(-.1) + 1.5, 1e-14);
  loss.shift = 0.25;
  EXPECT_NEAR(highest_loss(loss), -7.0 * std::log1p(-.1) + 1.75, 1e-14);
  EXPECT_EQ(highest_loss({{SampledGaussian{.1, 1, 7, remove}}}), kInf);
  loss.mu_squared = 0.1;
  EXPECT_EQ(highest_loss(loss), kInf);
}

TEST(TotalLoss, ExchangedTwiceIsItself) {
  const TotalLoss loss{{SampledGaussian{.1, 1, 7, add}, SampledGaussian{.2, .5, 3, replace},
                        GroupGaussian{.1, 1, 2, 4, remove}},
                       0.3};
  const TotalLoss once = exchanged(loss), twice = exchanged(once);
  EXPECT_EQ(std::get<SampledGaussian>(once.steps[0]).direction, remove);
  EXPECT_EQ(std::get<SampledGaussian>(once.steps[1]).direction, replace);
  EXPECT_EQ(std::get<GroupGaussian>(once.steps[2]).direction, add);
  for (std::size_t i = 0; i < loss.steps.size(); ++i) {
    EXPECT_EQ(count_of(twice.steps[i]), count_of(loss.steps[i]));
  }
  EXPECT_EQ(std::get<SampledGaussian>(twice.steps[0]).direction, add);
  EXPECT_EQ(twice.mu_squared, 0.3);
}

TEST(TotalLoss, FailuresOfStepsMultiply) {
  TotalLoss loss;
  add_failures(loss, 1e-3, 10);
  EXPECT_NEAR(loss.log_survival, 10.0 * std::log1p(-1e-3), 1e-17);
  add_failures(loss, 0.5, 1);
  EXPECT_NEAR(loss.log_survival, 10.0 * std::log1p(-1e-3) - std::log(2.0), 1e-15);
}

TEST(TotalLoss, WithoutNoiseASampledRecordIsDisclosed) {
  // With the record P discloses it with 1 - (1 - q)^k; what is left has the loss k log(1 - q) below Q.
  TotalLoss with;
  add_noiseless(with, .1, 5, remove);
  EXPECT_NEAR(with.log_survival, 5.0 * std::log1p(-.1), 1e-15);
  TotalLoss without;
  add_noiseless(without, .1, 5, add);
  EXPECT_EQ(without.log_survival, 0.0);
  EXPECT_NEAR(without.shift, -5.0 * std::log1p(-.1), 1e-15);
}

TEST(TotalLoss, RefusesWhatIsNone) {
  EXPECT_NO_THROW(require_valid({{SampledGaussian{.1, 1, 7}}, 0.5}));
  EXPECT_THROW(require_valid({{SampledGaussian{1.5, 1, 7}}}), InvalidArgument);
  EXPECT_THROW(require_valid({{SampledGaussian{.1, -1, 7}}}), InvalidArgument);
  EXPECT_THROW(require_valid({{}, -1.0}), InvalidArgument);
  EXPECT_THROW(require_valid({{}, 0.0, 0.1}), InvalidArgument);
}

TEST(TotalLoss, LongWorkStopsWhenAsked) {
  struct Stopping final : Observer {
    [[nodiscard]] bool stop_requested() const override { return true; }
  } stopping;
  EXPECT_NO_THROW(require_going_on(nullptr));
  EXPECT_THROW(require_going_on(&stopping), Stopped);
}

}  // namespace
}  // namespace sfumato
