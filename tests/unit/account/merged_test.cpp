// Merging near-equal steps towards either side (Spec §20.6), and stopping in the middle of a question.
#include "sfumato/account/accountant/merged.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/lattice/pld.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato {
namespace {

/// k releases of one step, whose noise grows from 1 to 2 and whose rates differ a little.
PrivateReleases schedule(int k) {
  PrivateReleases all{NeighbouringRelation::add_remove, 1, {}};
  for (int i = 0; i < k; ++i) {
    all.list.push_back(
        {GaussianNoise{1.0 + i / static_cast<double>(k)}, Sampler::poisson, 0.01 + 1e-6 * i, 1});
  }
  return all;
}

TEST(Merged, FewStepsStayAsTheyAre) {
  std::vector<StepLoss> steps(kMergedKinds, SampledGaussian{0.1, 1.0, 1});
  EXPECT_EQ(merged(steps, Merge::up).size(), kMergedKinds);
}

TEST(Merged, EndsKeepCountsAndOrder) {
  std::vector<StepLoss> steps;
  for (int i = 0; i < 2000; ++i) {
    steps.push_back(SampledGaussian{0.01 + 1e-6 * ((i * 37) % 2000), 1.0 + 1e-3 * i, 1.0 + i % 3});
  }
  double count = 0.0, up = 0.0, down = 0.0, signal = 0.0, most = 0.0, least = 0.0;
  for (const StepLoss& step : steps) {
    const auto& s = std::get<SampledGaussian>(step);
    count += s.k, signal += s.k * s.q * s.m;
  }
  for (const StepLoss& step : merged(steps, Merge::up)) {
    const auto& s = std::get<SampledGaussian>(step);
    up += s.k, most += s.k * s.q * s.m;
  }
  for (const StepLoss& step : merged(steps, Merge::down)) {
    const auto& s = std::get<SampledGaussian>(step);
    down += s.k, least += s.k * s.q * s.m;
  }
  EXPECT_EQ(up, count);
  EXPECT_EQ(down, count);
  EXPECT_GT(most, signal);
  EXPECT_LT(least, signal);
  EXPECT_LE(merged(steps, Merge::up).size(), kMergedKinds);
}

TEST(Merged, AThousandReleasesAreNarrowAndEncloseEqualOnes) {
  const Enclosure found = Accountant(schedule(1000)).epsilon(Delta(1e-5));
  EXPECT_LT(found.upper.value, 1.03 * found.lower.value);
  // The first and the last release a thousand times are on either side.
  PrivateReleases first{NeighbouringRelation::add_remove, 1, {schedule(1000).list.front()}};
  PrivateReleases last{NeighbouringRelation::add_remove, 1, {schedule(1000).list.back()}};
  first.list.front().steps = last.list.front().steps = 1000;
  first.list.front().sample_rate = last.list.back().sample_rate;
  last.list.front().sample_rate = 0.01;
  EXPECT_LT(found.upper.value, Accountant(first).epsilon(Delta(1e-5)).upper.value);
  EXPECT_GT(found.lower.value, Accountant(last).epsilon(Delta(1e-5)).lower.value);
}

TEST(Merged, EightyReleasesAreAsNarrowAsSixtyFour) {
  const Enclosure found = Accountant(schedule(80)).epsilon(Delta(1e-5));
  EXPECT_LT(found.upper.value, 1.001 * found.lower.value);
}

class StopAfter : public Observer {
 public:
  explicit StopAfter(int looks) : left_(looks) {}
  [[nodiscard]] bool stop_requested() const override { return --left_ < 0; }

 private:
  mutable int left_;
};

TEST(Watched, QuestionsStop) {
  for (const int looks : {0, 10, 1000}) {
    const StopAfter observer(looks);
    const Accountant watched = Accountant(schedule(100)).watched_by(observer);
    EXPECT_THROW((void)watched.epsilon(Delta(1e-5)), Stopped) << looks;
    EXPECT_THROW((void)watched.epsilon_by_fft(Delta(1e-5)), Stopped) << looks;
    EXPECT_THROW((void)watched.methods_agree(Epsilon(1.0)), Stopped) << looks;
  }
}

TEST(Merged, TheSecondMethodMeetsTheFirst) {
  TotalLoss loss;
  for (int i = 0; i < 300; ++i) loss.steps.push_back(RandomisedResponse{0.1 + 1e-4 * i, 1.0});
  const LogEnclosure contour = delta_of(loss, 2.0).log, fft = pld_delta(loss, 2.0, {1 << 10});
  EXPECT_LE(fft.log_lo, contour.log_hi);
  EXPECT_GE(fft.log_hi, contour.log_lo);
}

}  // namespace
}  // namespace sfumato
