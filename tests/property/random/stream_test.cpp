#include "sfumato/random/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

// Statistical tests. The seeds are fixed, so that a test that passes goes on passing; each states
// the probability with which a perfect generator would have failed it at the first seed tried.

namespace sfumato {
namespace {

constexpr std::uint64_t kSeed = 2718281828;
constexpr double kSigmas = 5.0;  // two-sided normal tail: 5.7e-7 per comparison

Stream stream_of(std::uint64_t run) { return Stream(StreamKey(kSeed, Purpose::simulation, {run})); }

std::vector<double> normals(std::uint64_t run, std::uint64_t step, std::size_t count,
                            std::uint64_t first = 0) {
  std::vector<double> values(count);
  stream_of(run).fill_normal(step, first, values);
  return values;
}

std::vector<double> float_normals(std::uint64_t run, std::uint64_t step, std::size_t count,
                                  std::uint64_t first = 0) {
  std::vector<float> values(count);
  stream_of(run).fill_normal(step, first, values);
  return {values.begin(), values.end()};
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// sqrt(n) times the Kolmogorov-Smirnov distance to the distribution with this distribution function.
template <class Cdf>
double scaled_ks_distance(std::vector<double> values, Cdf cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, p - rank / n, (rank + 1.0) / n - p});
  }
  return std::sqrt(n) * distance;
}

constexpr double kKsLimit = 2.75;  // 2 exp(-2 x^2) = 5.4e-7

template <class T, class Fill>
void check_chunking(Fill fill) {
  std::mt19937_64 rng(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t step = rng() >> (rng() % 64);
    const std::size_t size = rng() % 50;
    const std::uint64_t first = std::min(rng() >> (rng() % 64), ~std::uint64_t{0} - 100);
    std::vector<T> whole(size), pieces(size);
    fill(step, first, std::span<T>(whole));
    for (std::size_t done = 0; done < size;) {
      const std::size_t count = std::min<std::size_t>(1 + rng() % 9, size - done);
      fill(step, first + done, std::span<T>(pieces).subspan(done, count));
      done += count;
    }
    ASSERT_EQ(whole, pieces) << "seed " << kSeed << " case " << i;
  }
}

TEST(StreamProperty, AnyChunkingGivesTheSameBits) {
  const Stream stream = stream_of(0);
  check_chunking<double>([&](auto step, auto first, std::span<double> values) {
    stream.fill_uniform(step, first, values);
  });
  check_chunking<double>([&](auto step, auto first, std::span<double> values) {
    stream.fill_normal(step, first, values);
  });
  check_chunking<float>([&](auto step, auto first, std::span<float> values) {
    stream.fill_normal(step, first, values);
  });
}

// False alarm: 6 comparisons at 5 sigma, 3.4e-6.
TEST(StreamProperty, UniformMomentsAndRange) {
  std::vector<double> values(1000000);
  stream_of(1).fill_uniform(0, 0, values);
  const auto n = static_cast<double>(values.size());
  for (int power = 1; power <= 6; ++power) {
    double sum = 0.0;
    for (const double u : values) {
      ASSERT_GT(u, 0.0);
      ASSERT_LT(u, 1.0);
      sum += std::pow(u, power);
    }
    const double mean = 1.0 / (power + 1.0);
    const double variance = 1.0 / (2.0 * power + 1.0) - mean * mean;
    EXPECT_LT(std::abs(sum / n - mean), kSigmas * std::sqrt(variance / n)) << "power " << power;
  }
}

// False alarm: 5.4e-7.
TEST(StreamProperty, UniformDistribution) {
  std::vector<double> values(500000);
  stream_of(2).fill_uniform(9, 12345, values);
  EXPECT_LT(scaled_ks_distance(values, [](double u) { return u; }), kKsLimit);
}

void check_normals(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  // E Z^(2k) = (2k - 1)!!; the variance of Z^k is E Z^(2k) - (E Z^k)^2.
  const std::vector<double> moments{1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395};
  for (std::size_t power = 1; power <= 6; ++power) {
    double sum = 0.0;
    for (const double z : values) sum += std::pow(z, static_cast<double>(power));
    const double variance = moments[2 * power] - moments[power] * moments[power];
    EXPECT_LT(std::abs(sum / n - moments[power]), kSigmas * std::sqrt(variance / n))
        << "power " << power;
  }
  for (const double x : {1.0, 2.0, 3.0, 4.0}) {
    for (const double sign : {-1.0, 1.0}) {
      const auto count = static_cast<double>(
          std::count_if(values.begin(), values.end(), [&](double z) { return sign * z > x; }));
      const double p = normal_cdf(-x);
      EXPECT_LT(std::abs(count - n * p), kSigmas * std::sqrt(n * p)) << sign * x;
    }
  }
  EXPECT_LT(scaled_ks_distance(values, normal_cdf), kKsLimit);
}

// False alarm: 14 comparisons at 5 sigma and one KS, about 1e-5 (the count beyond 4 has mean 63:
// its Poisson tail is 1.8e-6 rather than 5.7e-7).
TEST(StreamProperty, DoubleNormals) { check_normals(normals(3, 4, 2000000)); }
TEST(StreamProperty, FloatNormals) { check_normals(float_normals(4, 4, 2000000)); }

// P(|Z| > 6.4) = 1.6e-10, so that one of 4e6 values passes it with probability 6e-4; that none
// passes 4.2 has probability exp(-53). False alarm: twice 6e-4.
TEST(StreamProperty, ExtremesAreReachedButNotExceeded) {
  for (const auto& values : {normals(5, 0, 4000000), float_normals(5, 0, 4000000)}) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_GT(*most, 4.2);
    EXPECT_LT(*least, -4.2);
    EXPECT_LT(std::max(*most, -*least), 6.4);
  }
}

/// Correlations of values and of squares, each at 5 sigma. The two normals of a pair share their
/// radius, hence squares matter as much as values.
void expect_independent(const std::vector<double>& a, const std::vector<double>& b,
                        const char* what) {
  const auto n = static_cast<double>(a.size());
  double values = 0.0, squares = 0.0, mixed = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    values += a[i] * b[i];
    squares += (a[i] * a[i] - 1.0) * (b[i] * b[i] - 1.0);
    mixed += a[i] * (b[i] * b[i] - 1.0);
  }
  EXPECT_LT(std::abs(values), kSigmas * std::sqrt(n)) << what;
  EXPECT_LT(std::abs(squares), kSigmas * 2.0 * std::sqrt(n)) << what;
  EXPECT_LT(std::abs(mixed), kSigmas * std::sqrt(2.0 * n)) << what;
}

// False alarm: 3 comparisons for each of 13 pairs at 5 sigma, 2.2e-5.
TEST(StreamProperty, NeighboursAreIndependent) {
  constexpr std::size_t kCount = 300000;
  const std::vector<double> base = normals(6, 10, kCount);
  for (const std::uint64_t lag : {1u, 2u, 3u, 4u, 8u, 784u}) {
    expect_independent(base, normals(6, 10, kCount, lag), "index");
  }
  expect_independent(base, normals(6, 11, kCount), "step");
  expect_independent(base, normals(6, 10 + (std::uint64_t{1} << 32), kCount), "high word of step");
  expect_independent(base, normals(6, 10, kCount, std::uint64_t{1} << 33), "high word of block");
  expect_independent(base, normals(7, 10, kCount), "run");
  const auto other = [&](std::uint64_t seed, Purpose purpose) {
    std::vector<double> values(kCount);
    Stream(StreamKey(seed, purpose, {6})).fill_normal(10, 0, values);
    return values;
  };
  expect_independent(base, other(kSeed + 1, Purpose::simulation), "seed");
  expect_independent(base, other(kSeed, Purpose::noise), "purpose");
  // The same index over consecutive steps, as one weight sees its noise.
  std::vector<double> weight(20001);
  for (std::size_t step = 0; step < weight.size(); ++step) {
    stream_of(8).fill_normal(step, 17, std::span<double>(weight).subspan(step, 1));
  }
  expect_independent({weight.begin(), weight.end() - 1}, {weight.begin() + 1, weight.end()},
                     "steps of one index");
}

// The same for floats, of which one block makes four. Simulation reads indices as paths and steps as
// time and coordinate. False alarm: 3 comparisons for each of 10 pairs at 5 sigma, 1.7e-5.
TEST(StreamProperty, FloatNeighboursAreIndependent) {
  constexpr std::size_t kCount = 300000;
  const std::vector<double> base = float_normals(6, 10, kCount);
  for (const std::uint64_t lag : {1u, 2u, 3u, 4u, 16u, 64u, 512u}) {
    expect_independent(base, float_normals(6, 10, kCount, lag), "index");
  }
  expect_independent(base, float_normals(6, 11, kCount), "step");
  expect_independent(base, float_normals(6, 10, kCount, std::uint64_t{1} << 34), "high word");
  expect_independent(base, float_normals(7, 10, kCount), "run");
}

// Flipping any one input bit flips each output bit with probability 1/2. False alarm: 192
// comparisons at 5 sigma, 1.1e-4.
TEST(StreamProperty, PhiloxAvalanche) {
  std::mt19937_64 rng(kSeed);
  constexpr int kBlocks = 400;
  for (std::size_t bit = 0; bit < 192; ++bit) {
    int flips = 0;
    for (int i = 0; i < kBlocks; ++i) {
      PhiloxBlock counter{};
      PhiloxKey key{};
      for (auto& word : counter) word = static_cast<std::uint32_t>(rng());
      for (auto& word : key) word = static_cast<std::uint32_t>(rng());
      const PhiloxBlock before = philox4x32_10(counter, key);
      (bit < 128 ? counter[bit / 32] : key[(bit - 128) / 32]) ^= std::uint32_t{1} << (bit % 32);
      const PhiloxBlock after = philox4x32_10(counter, key);
      for (std::size_t w = 0; w < 4; ++w) flips += std::popcount(before[w] ^ after[w]);
    }
    const double n = 128.0 * kBlocks;
    EXPECT_LT(std::abs(flips - n / 2.0), kSigmas * std::sqrt(n) / 2.0) << "bit " << bit;
  }
}

// Chi-squared with k degrees of freedom is below k + 5 sqrt(2k) + 25 but for less than 1e-5
// (Laurent and Massart: P(X > k + 2 sqrt(k x) + 2 x) <= exp(-x), x = 12.5). Five values of n.
TEST(StreamProperty, IntegersBelowAreUniform) {
  for (const std::uint64_t n : {2u, 3u, 7u, 100u, 1000u}) {
    std::vector<double> counts(n, 0.0);
    constexpr std::uint64_t kDraws = 300000;
    const Stream stream = stream_of(9);
    for (std::uint64_t i = 0; i < kDraws; ++i) counts[stream.below(n, i, n)] += 1.0;
    const double expected = static_cast<double>(kDraws) / static_cast<double>(n);
    double statistic = 0.0;
    for (const double count : counts)
      statistic += (count - expected) * (count - expected) / expected;
    const double k = static_cast<double>(n) - 1.0;
    EXPECT_LT(statistic, k + 2.0 * std::sqrt(k * 12.5) + 25.0) << "n " << n;
  }
}

// n = 3 * 2^62 is where taking x mod n would be worst: the lower third would get half the draws.
// False alarm: 5.7e-7.
TEST(StreamProperty, IntegersBelowHaveNoModuloBias) {
  const std::uint64_t n = std::uint64_t{3} << 62;
  constexpr int kDraws = 100000;
  int low = 0;
  const Stream stream = stream_of(10);
  for (int i = 0; i < kDraws; ++i) {
    if (stream.below(0, static_cast<std::uint64_t>(i), n) < n / 3) ++low;
  }
  EXPECT_LT(std::abs(low - kDraws / 3.0), kSigmas * std::sqrt(kDraws * 2.0 / 9.0));
}

}  // namespace
}  // namespace sfumato
