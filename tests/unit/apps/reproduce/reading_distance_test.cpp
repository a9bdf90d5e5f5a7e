#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/readings/distance.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::apps {
namespace {

PrintedNumber share(double printed) { return {"delta", printed, Aggregate::largest_mean}; }
PrintedNumber loss(double printed) { return {"loss", printed, Aggregate::largest}; }

/// Pairs x replicas of  mean + between z + within z'.
NumberSample random_sample(double printed, double mean, double between, double within,
                           std::size_t pairs, std::size_t replicas) {
  const Stream stream(StreamKey(5, Purpose::simulation));
  NumberSample sample{{share(printed)}, {}, 1000};
  for (std::size_t p = 0; p < pairs; ++p) {
    std::vector<double> z(replicas + 1);
    stream.fill_normal(p, 0, z);
    sample.trials.emplace_back();
    for (std::size_t r = 0; r < replicas; ++r) {
      sample.trials.back().push_back({mean + between * z[replicas] + within * z[r]});
    }
  }
  return sample;
}

ReadingDistance of(const NumberSample& sample, const PaperRuns& runs = {}, bool interval = false) {
  return distance_to_paper({&sample, 1}, runs, 3, interval);
}

TEST(ReadingDistance, OfModelsThatAreAllAlike) {
  const NumberSample sample{
      {share(0.07), loss(0.35)}, {{{0.7, 3.5}, {0.7, 3.5}}, {{0.7, 3.5}}}, 1000};
  const ReadingDistance fit = of(sample, {}, true);
  EXPECT_NEAR(fit.distance, 2.0, 1e-9);
  EXPECT_NEAR(fit.lower, 2.0, 1e-9);
  EXPECT_NEAR(fit.upper, 2.0, 1e-9);
  EXPECT_NEAR(fit.chance, 0.0, 1e-9);
  EXPECT_LT(fit.p_value, 0.01);
  EXPECT_EQ(fit.trials, 3U);
  EXPECT_NEAR(fit.numbers[0].centre, 0.7, 1e-9);
  EXPECT_NEAR(fit.numbers[1].centre, 3.5, 1e-9);
  // Nothing above epsilon is half a record of one pair, not an infinite distance.
  EXPECT_NEAR(of({{share(0.1)}, {{{0.0}}}, 1000}).numbers[0].centre, 0.5 / 10'000, 1e-12);
}

// The median of the largest of ten normals is 1.4988 deviations above the mean. The effects are estimated from 400 pairs, the
// median is of 400 draws: 4 % is three standard errors.
TEST(ReadingDistance, IsOfTheMaximumOverThePapersPairs) {
  const double between = 0.02, within = 0.03;
  const NumberSample sample = random_sample(0.2, 0.2, between, within, 400, 4);
  const double deviation = std::hypot(between, within / std::sqrt(10.0));
  EXPECT_NEAR(of(sample).numbers[0].centre, 0.2 + 1.4988 * deviation, 0.04 * 0.2);
  EXPECT_NEAR(of(sample, {1, 10}).numbers[0].centre, 0.2, 0.04 * 0.2);
  // Among more runs the maximum is larger, and its spread is that of the simulated numbers.
  EXPECT_GT(of(sample, {100, 10}).numbers[0].centre, of(sample).numbers[0].centre);
  const NumberFit fit = of(sample).numbers[0];
  EXPECT_LT(fit.lower, fit.centre);
  EXPECT_GT(fit.upper, fit.centre);
}

TEST(ReadingDistance, ARunOfTheReadingItselfIsNotFarAway) {
  NumberSample sample = random_sample(0.2, 0.2, 0.02, 0.03, 12, 4);
  sample.numbers[0].printed = of(sample).numbers[0].centre;
  EXPECT_NEAR(of(sample).distance, 0.0, 1e-12);
  EXPECT_EQ(of(sample).p_value, 1.0);
  EXPECT_GT(of(sample).chance, 0.0);
  const double upper = of(sample).numbers[0].upper;
  sample.numbers[0].printed = upper;  // the 97.5 % quantile: about one run in twenty is as far away
  EXPECT_NEAR(of(sample).p_value, 0.05, 0.035);
  sample.numbers[0].printed = 4.0 * upper;
  EXPECT_LT(of(sample).p_value, 0.01);
}

TEST(ReadingDistance, HasASamplingError) {
  const ReadingDistance few = of(random_sample(0.5, 0.2, 0.03, 0.03, 3, 2), {}, true);
  const ReadingDistance many = of(random_sample(0.5, 0.2, 0.03, 0.03, 40, 5), {}, true);
  EXPECT_LE(few.lower, few.distance);
  EXPECT_GE(few.upper, few.distance);
  EXPECT_GT(few.upper - few.lower, many.upper - many.lower);
  const ReadingDistance again = of(random_sample(0.5, 0.2, 0.03, 0.03, 3, 2), {}, true);
  EXPECT_EQ(few.distance, again.distance);
  EXPECT_EQ(few.upper, again.upper);
}

TEST(ReadingDistance, LossesAreTheLargestOfAllModels) {
  NumberSample sample{{loss(1.0)}, {{{0.1}, {0.2}, {0.4}}, {{0.1}, {0.2}, {0.4}}}, 1000};
  EXPECT_GT(of(sample).numbers[0].centre, 0.4);          // of 100
  EXPECT_LT(of(sample, {1, 1}).numbers[0].centre, 0.4);  // of one
  EXPECT_GT(of(sample, {10, 100}).numbers[0].centre, of(sample).numbers[0].centre);
}

TEST(ReadingDistance, RefusesWhatIsNoSample) {
  EXPECT_THROW((void)distance_to_paper({}, {}, 1, false), InternalError);
  EXPECT_THROW((void)of({{share(0.1)}, {}, 10}), InternalError);
  EXPECT_THROW((void)of({{share(0.1)}, {{}}, 10}), InternalError);
  EXPECT_THROW((void)of({{share(0.1)}, {{{std::nan("")}}}, 10}), InternalError);
}

}  // namespace
}  // namespace sfumato::apps
