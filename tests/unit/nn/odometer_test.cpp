#include "sfumato/nn/odometer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

StepKl step(double nats) { return {nats, 0, {}}; }
StepKl infinite_step(std::vector<std::size_t> coordinates) {
  return {kInf, coordinates.size(), std::move(coordinates)};
}

TEST(Odometer, SumsSteps) {
  Odometer run;
  EXPECT_EQ(run.nats, 0.0);
  run.add(step(0.5), 0);
  run.add(step(0.25), 1);
  EXPECT_EQ(run.nats, 0.75);
  EXPECT_EQ(run.steps, 2U);
  EXPECT_EQ(run.infinite_steps, 0U);
  EXPECT_FALSE(run.first_infinite.has_value());
}

TEST(Odometer, KeepsTheFirstInfiniteStepAndItsCoordinates) {
  Odometer run;
  run.add(step(0.5), 4);
  run.add(infinite_step({3, 9}), 7);
  run.add(infinite_step({4}), 8);
  run.add(step(0.5), 20);
  EXPECT_EQ(run.nats, kInf);
  EXPECT_EQ(run.steps, 4U);
  EXPECT_EQ(run.infinite_steps, 2U);
  ASSERT_TRUE(run.first_infinite.has_value());
  EXPECT_EQ(run.first_infinite->step, 7U);
  EXPECT_EQ(run.first_infinite->count, 2U);
  EXPECT_EQ(run.first_infinite->first_coordinates, (std::vector<std::size_t>{3, 9}));
}

TEST(OdometerMean, MeanAndStandardErrorOfRuns) {
  OdometerMean mean;
  EXPECT_THROW((void)mean.mean(), InvalidArgument);
  for (const double nats : {1.0, 2.0, 6.0}) {
    Odometer run;
    run.add(step(nats), 0);
    mean.add(run);
    if (nats == 1.0) {
      EXPECT_EQ(mean.mean().value.standard_error, kInf);
    }
  }
  const Claimed<MonteCarloMean> got = mean.mean();
  EXPECT_EQ(got.claim, Claim::estimate);
  EXPECT_DOUBLE_EQ(got.value.value, 3.0);
  EXPECT_DOUBLE_EQ(got.value.standard_error, std::sqrt(14.0 / 2.0 / 3.0));
  EXPECT_EQ(mean.runs(), 3U);
  Odometer infinite;
  infinite.add(infinite_step({0}), 0);
  mean.add(infinite);
  EXPECT_EQ(mean.runs(), 4U);
  EXPECT_EQ(mean.infinite_runs(), 1U);
  EXPECT_EQ(mean.mean().value.value, kInf);
  EXPECT_EQ(mean.mean().value.standard_error, kInf);
}

}  // namespace
}  // namespace sfumato
