// Merging near-equal steps towards either side (Spec §20.6), and stopping in the middle of a question.
#include "sfumato/account/accountant/merged.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/profile.hpp"
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

TEST(Merged, TheSecondMethodEnclosesTheFirst) {
  const Accountant many(schedule(300));
  const Enclosure contour = many.delta(Epsilon(0.2)), fft = many.delta_by_fft(Epsilon(0.2));
  EXPECT_LE(fft.lower.value, contour.upper.value);
  EXPECT_GE(fft.upper.value, contour.lower.value);
  EXPECT_LT(fft.upper.value, 1.1 * contour.upper.value);
}

}  // namespace
}  // namespace sfumato
