#include "lab/nn/training.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato::lab {
namespace {

TEST(Training, TheRateGoesDownAsItsScheduleSays) {
  Training training;
  training.learning_rate = 0.4;
  training.iterations = 100;
  EXPECT_EQ(training.rate_at(0), 0.4);
  EXPECT_EQ(training.rate_at(99), 0.4);
  training.schedule = RateSchedule::linear;
  EXPECT_EQ(training.rate_at(0), 0.4);
  EXPECT_NEAR(training.rate_at(50), 0.2, 1e-15);
  EXPECT_GT(training.rate_at(99), 0.0);
  training.schedule = RateSchedule::cosine;
  EXPECT_EQ(training.rate_at(0), 0.4);
  EXPECT_NEAR(training.rate_at(50), 0.2, 1e-15);
  EXPECT_NEAR(training.rate_at(25), 0.2 * (1.0 + std::sqrt(0.5)), 1e-14);
}

TEST(Training, SchedulesHaveNames) {
  EXPECT_EQ(name(RateSchedule::constant), "constant");
  EXPECT_EQ(name(RateSchedule::linear), "linear");
  EXPECT_EQ(name(RateSchedule::cosine), "cosine");
}

}  // namespace
}  // namespace sfumato::lab
