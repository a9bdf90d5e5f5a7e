#include "lab/nn/model_record.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/infinity.hpp"

namespace sfumato::lab {
namespace {

StepKl step(double nats) { return {nats, 0, {}}; }
StepKl infinite_step(std::vector<std::size_t> coordinates) {
  return {kInf, coordinates.size(), std::move(coordinates)};
}

TEST(PathKlSum, SumsSteps) {
  PathKlSum run;
  EXPECT_EQ(run.nats, 0.0);
  run.add(step(0.5), 0);
  run.add(step(0.25), 1);
  EXPECT_EQ(run.nats, 0.75);
  EXPECT_EQ(run.steps, 2U);
  EXPECT_EQ(run.infinite_steps, 0U);
  EXPECT_FALSE(run.first_infinite.has_value());
}

TEST(PathKlSum, KeepsTheFirstInfiniteStepAndItsCoordinates) {
  PathKlSum run;
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

}  // namespace
}  // namespace sfumato::lab
