#include "lab/nn/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

// The seeds are fixed; each statistical test states the probability with which a perfect sampler would
// have failed it at the first seed tried.

namespace sfumato::lab {
namespace {

constexpr std::uint64_t kSeed = 161803398;
constexpr double kSigmas = 5.0;  // two-sided normal tail: 5.7e-7 per comparison

std::vector<std::uint32_t> copy(std::span<const std::uint32_t> batch) {
  return {batch.begin(), batch.end()};
}

TEST(BatchesProperty, StepsInAnyOrderGiveTheSameBits) {
  std::mt19937_64 rng(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const auto scheme = static_cast<BatchScheme>(rng() % 3);
    const std::size_t slots = 1 + rng() % 60;
    const std::size_t size = 1 + rng() % slots;
    const std::uint64_t seed = rng();
    BatchSampler forward(scheme, slots, size, seed), jumping(scheme, slots, size, seed);
    std::vector<std::vector<std::uint32_t>> steps;
    for (std::uint64_t step = 0; step < 12; ++step) steps.push_back(copy(forward.batch(step)));
    for (int jump = 0; jump < 12; ++jump) {
      const std::uint64_t step = rng() % 12;
      ASSERT_EQ(copy(jumping.batch(step)), steps[step]) << "seed " << kSeed << " case " << i;
    }
    (void)forward.batch(rng());  // any step is fine
  }
}

TEST(BatchesProperty, AnEpochIsAPermutation) {
  std::mt19937_64 rng(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t size = 1 + rng() % 9, per_epoch = 2 + rng() % 9;
    const std::size_t left_out = rng() % size, slots = size * per_epoch + left_out;
    BatchSampler sampler(BatchScheme::shuffled, slots, size, rng());
    const std::uint64_t epoch = rng() % 1000;
    std::vector<std::uint32_t> seen;
    for (std::size_t step = 0; step < per_epoch; ++step) {
      const auto batch = sampler.batch(epoch * per_epoch + step);
      ASSERT_EQ(batch.size(), size);
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_LT(seen.back(), slots);
    ASSERT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "case " << i;
    ASSERT_EQ(seen.size(), slots - left_out);
  }
}

/// How often each slot is seen at each place of the batch in one random step of many epochs.
void check_uniform(BatchScheme scheme) {
  constexpr std::size_t kSlots = 13, kSize = 4, kSteps = 40000;
  BatchSampler sampler(scheme, kSlots, kSize, kSeed);
  std::vector<std::vector<double>> counts(kSize, std::vector<double>(kSlots, 0.0));
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const auto batch = sampler.batch(3 * step + step % 3);  // one step of each epoch, independent
    for (std::size_t i = 0; i < kSize; ++i) counts[i][batch[i]] += 1.0;
  }
  const double p = 1.0 / kSlots, n = kSteps;
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      EXPECT_LT(std::abs(counts[i][slot] - n * p), kSigmas * std::sqrt(n * p * (1 - p)))
          << "place " << i << " slot " << slot;
    }
  }
}

// False alarm of each: 52 comparisons at 5 sigma, 3e-5.
TEST(BatchesProperty, ShuffledPlacesAreUniform) { check_uniform(BatchScheme::shuffled); }
TEST(BatchesProperty, DrawsWithReplacementAreUniform) {
  check_uniform(BatchScheme::with_replacement);
}

// Pairs of slots in one shuffled batch: each of 78 with probability (4 3) / (13 12).
// False alarm: 4.5e-5.
TEST(BatchesProperty, ShuffledBatchesAreUniformOverPairs) {
  constexpr std::size_t kSlots = 13, kSize = 4, kEpochs = 30000;
  BatchSampler sampler(BatchScheme::shuffled, kSlots, kSize, kSeed + 1);
  std::vector<double> counts(kSlots * kSlots, 0.0);
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto batch = sampler.batch(3 * epoch + 2);
    for (const std::uint32_t a : batch) {
      for (const std::uint32_t b : batch) counts[a * kSlots + b] += 1.0;
    }
  }
  const double p = 12.0 / 156.0, n = kEpochs;
  for (std::size_t a = 0; a < kSlots; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_LT(std::abs(counts[a * kSlots + b] - n * p), kSigmas * std::sqrt(n * p * (1 - p)));
    }
  }
}

// The size is Binomial(N, q): mean N q, variance v = N q (1 - q), fourth central moment
// v (1 + 3 (N - 2) q (1 - q)). Each slot has probability q; two slots q^2.
// False alarm: 2 + 40 + 39 comparisons at 5 sigma, 5e-5.
TEST(BatchesProperty, PoissonSizesAndSlots) {
  constexpr std::size_t kSlots = 40, kSize = 6, kSteps = 30000;
  BatchSampler sampler(BatchScheme::poisson, kSlots, kSize, kSeed);
  const double q = static_cast<double>(kSize) / kSlots, n = kSteps;
  const double variance = kSlots * q * (1 - q);
  std::vector<double> single(kSlots, 0.0), neighbours(kSlots, 0.0);
  double sum = 0.0, squares = 0.0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    auto batch = copy(sampler.batch(step));
    std::sort(batch.begin(), batch.end());
    ASSERT_EQ(std::adjacent_find(batch.begin(), batch.end()), batch.end());
    const double deviation = static_cast<double>(batch.size()) - kSlots * q;
    sum += deviation;
    squares += deviation * deviation;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      single[batch[i]] += 1.0;
      if (i > 0 && batch[i] == batch[i - 1] + 1) neighbours[batch[i]] += 1.0;
    }
  }
  EXPECT_LT(std::abs(sum / n), kSigmas * std::sqrt(variance / n));
  const double fourth = variance * (1 + 3 * (kSlots - 2) * q * (1 - q));
  EXPECT_LT(std::abs(squares / n - variance),
            kSigmas * std::sqrt((fourth - variance * variance) / n));
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    EXPECT_LT(std::abs(single[slot] - n * q), kSigmas * std::sqrt(n * q * (1 - q))) << slot;
    if (slot == 0) continue;
    EXPECT_LT(std::abs(neighbours[slot] - n * q * q), kSigmas * std::sqrt(n * q * q * (1 - q * q)))
        << slot;
  }
}

/// P(Binomial(n, q) = k), from the gamma function.
double binomial_pmf(double n, double q, double k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                  k * std::log(q) + (n - k) * std::log1p(-q));
}

// Every size that is expected at least 25 times has its binomial frequency, for low and high rates; all
// others together are not more than their share. False alarm: fewer than 60 comparisons at 5 sigma of
// counts that are nearly normal, below 1e-4.
TEST(BatchesProperty, PoissonSizesAreBinomial) {
  constexpr std::size_t kSlots = 30, kSteps = 40000;
  for (const std::size_t size : {1u, 4u, 15u, 28u}) {
    BatchSampler sampler(BatchScheme::poisson, kSlots, size, kSeed + size);
    std::vector<double> counts(kSlots + 1, 0.0);
    for (std::uint64_t step = 0; step < kSteps; ++step) counts[sampler.batch(step).size()] += 1.0;
    const double n = kSteps, q = static_cast<double>(size) / kSlots;
    double rest = 0.0, rest_expected = 0.0;
    for (std::size_t k = 0; k <= kSlots; ++k) {
      const double p = binomial_pmf(kSlots, q, static_cast<double>(k));
      if (n * p < 25.0) {
        rest += counts[k];
        rest_expected += n * p;
        continue;
      }
      EXPECT_LT(std::abs(counts[k] - n * p), kSigmas * std::sqrt(n * p * (1 - p)))
          << "rate " << q << " size " << k;
    }
    EXPECT_LT(rest, rest_expected + kSigmas * std::sqrt(rest_expected) + 10.0);
  }
}

// The full range of sizes that training uses: mean and variance for many slots.
// False alarm: 3 comparisons of means at 5 sigma, 2e-6; variances have 10 sigma of room.
TEST(BatchesProperty, PoissonSizesOfLargeSets) {
  for (const std::size_t slots : {1000u, 60000u, 1000000u}) {
    BatchSampler sampler(BatchScheme::poisson, slots, 100, kSeed);
    const std::uint64_t count = slots > 100000 ? 100 : 2000;
    const auto steps = static_cast<double>(count);
    double sum = 0.0, squares = 0.0;
    for (std::uint64_t step = 0; step < count; ++step) {
      const double deviation = static_cast<double>(sampler.batch(step).size()) - 100.0;
      sum += deviation;
      squares += deviation * deviation;
    }
    const double variance = 100.0 * (1.0 - 100.0 / static_cast<double>(slots));
    EXPECT_LT(std::abs(sum / steps), kSigmas * std::sqrt(variance / steps)) << slots;
    EXPECT_NEAR(squares / steps, variance, 10.0 * variance * std::sqrt(2.0 / steps)) << slots;
  }
}

TEST(BatchesProperty, SeedsAndSchemesHaveStreamsOfTheirOwn) {
  BatchSampler a(BatchScheme::shuffled, 1000, 500, 1), b(BatchScheme::shuffled, 1000, 500, 2);
  EXPECT_NE(copy(a.batch(0)), copy(b.batch(0)));
  EXPECT_NE(copy(a.batch(0)), copy(a.batch(2)));
}

}  // namespace
}  // namespace sfumato::lab
