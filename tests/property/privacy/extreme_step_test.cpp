// One step near the ends of the range of doubles against its closed form in 100 digits (Spec §17.6), and one to three that must not throw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sfumato/core/infinity.hpp"
#include "sfumato/privacy/accounting/accountant.hpp"
#include "sfumato/privacy/accounting/profile.hpp"
#include "support/accounting_reference.hpp"
#include "support/cases.hpp"

namespace sfumato {
namespace {

using enum StepDirection;
using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>,
                                           boost::multiprecision::et_off>;
using Rough = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<20>,
                                            boost::multiprecision::et_off>;
constexpr unsigned kSeed = 20261118;

double log_uniform(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
}

/// P(Z > x), by erfc, and far out by its continued fraction phi(x) / (x + 1/(x + 2/(x + 3/(x + ...)))), which is faster.
template <class Number>
Number tail(const Number& x) {
  if (x < 20) return boost::math::erfc(Number(x / sqrt(Number(2)))) / 2;
  Number fraction = x;
  for (int n = 400; n >= 1; --n) fraction = x + n / fraction;
  return exp(-x * x / 2) / sqrt(2 * boost::math::constants::pi<Number>()) / fraction;
}

/// Spec §17.6 in 100 digits; m is at most 100 and eps at most 1e4, so that nothing underflows.
template <class Number>
Number truth_of(const SampledGaussian& step, double epsilon) {
  const Number q(step.q), m(step.m), eps(epsilon), e = exp(eps);
  if (step.direction == remove) {
    if (e <= 1 - q) return 1 - e;
    const Number z = log(1 + (e - 1) / q) / m + m / 2;
    return q * tail(z - m) - (q + e - 1) * tail(z);
  }
  const Number ratio = 1 + (1 / e - 1) / q;
  if (ratio <= 0) return 0;
  const Number z = log(ratio) / m + m / 2;
  return (1 - e) * tail(-z) + e * q * (tail(-z) - tail(m - z));
}

/// An eps at which delta is between 1e-300 and 1, log-uniform, to a few digits.
double eps_of(const SampledGaussian& step, double log_delta) {
  double low = 0.0, high = 1.0;
  const auto above = [&](double eps) {
    const Rough value = truth_of<Rough>(step, eps);
    return value > 0 && static_cast<double>(log(value)) > log_delta;
  };
  if (!above(0.0)) return 0.0;
  while (above(high) && high < 1e4) high *= 2.0;
  for (int i = 0; i < 30; ++i) (above(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
  return low;
}

TEST(ExtremeSteps, OneStepIsEnclosed) {
  std::mt19937_64 random(kSeed);
  const auto all = static_cast<int>(testing::cases(3000, 12));
  int narrow = 0, count = 0;
  for (int i = 0; i < all; ++i) {
    double q = log_uniform(random, 1e-12, 1.0);
    if (i % 4 == 0) q = 1.0 - log_uniform(random, 1e-12, 1e-1);
    const double sigma =
        i % 2 == 0 ? log_uniform(random, 0.02, 1.0) : log_uniform(random, 0.3, 2.0);
    const SampledGaussian step{q, 1.0 / sigma, 1, i % 5 == 4 ? add : remove};
    const double log_delta =
        -std::uniform_real_distribution<>(0.0, 690.0)(random) * (i % 3 == 0 ? 0.05 : 1.0);
    const double eps = eps_of(step, log_delta);
    const Real truth = truth_of<Real>(step, eps);
    if (!(truth > 1e-305)) continue;
    const LogEnclosure found = delta_of({{step}}, eps).log;
    const std::string what = "q " + std::to_string(q) + ", sigma " + std::to_string(sigma) + ", " +
                             std::string(name(step.direction)) + ", eps " + std::to_string(eps) +
                             ", case " + std::to_string(i);
    EXPECT_LE(static_cast<double>(Real(found.log_lo) - log(truth)), 0.0) << what;
    EXPECT_GE(static_cast<double>(Real(found.log_hi) - log(truth)), 0.0) << what;
    ++count;
    narrow += found.log_hi - found.log_lo < 1e-6;
  }
  EXPECT_GT(count, all / 2);
  EXPECT_GT(narrow, count / 2) << "of " << count;
}

/// Two enclosures of the same number never exclude each other, whatever is asked: of valid settings none may throw. Rates and noise are
/// those of users; SFUMATO_CASES=full asks a million settings of one to three steps.
TEST(ExtremeSteps, NoSettingThrows) {
  std::mt19937_64 random(kSeed + 1);
  const auto all = testing::cases(1000000, 4000);
  std::uint64_t thrown = 0;
  for (std::uint64_t i = 0; i < all; ++i) {
    const double q = log_uniform(random, 1e-4, 0.8), sigma = log_uniform(random, 0.4, 2.0);
    const std::uint64_t steps = i % 20 == 0 ? 2 : i % 20 == 10 ? 3 : 1;
    const double delta =
        i % 8 == 0 ? log_uniform(random, 1e-300, 1e-12) : log_uniform(random, 1e-12, 1e-4);
    Accountant accountant(i % 16 == 3 ? NeighbouringRelation::replace_one
                                      : NeighbouringRelation::add_remove);
    accountant.compose({GaussianNoise{sigma}, Sampler::poisson, q, steps});
    try {
      const Enclosure found = accountant.epsilon(Delta(delta));
      EXPECT_LE(found.lower.value, found.upper.value);
    } catch (const std::exception& error) {
      ++thrown;
      ADD_FAILURE() << error.what() << " q " << q << " sigma " << sigma << " steps " << steps
                    << " delta " << delta;
    }
  }
  EXPECT_EQ(thrown, 0u) << "of " << all;
}

}  // namespace
}  // namespace sfumato
