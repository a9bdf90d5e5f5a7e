// One to three steps near the ends of the range of doubles: one against its closed form in 100 digits (Spec §17.6), two and three against
// integrals of it in 50 and 18 digits; and settings that must not throw.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/core/infinity.hpp"
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
  using std::exp, std::sqrt;  // of long double
  if (x < 20) return boost::math::erfc(Number(x / sqrt(Number(2)))) / 2;
  Number fraction = x;
  for (int n = 400; n >= 1; --n) fraction = x + n / fraction;
  return exp(-x * x / 2) / sqrt(2 * boost::math::constants::pi<Number>()) / fraction;
}

/// Spec §17.6 in 100 digits; m is at most 100 and eps at most 1e4, so that nothing underflows.
template <class Number>
Number truth_of(const SampledGaussian& step, const Number& eps) {
  using std::exp, std::log;
  const Number q(step.q), m(step.m), e = exp(eps);
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
    const Rough value = truth_of<Rough>(step, Rough(eps));
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
    const Real truth = truth_of<Real>(step, Real(eps));
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

/// Panels for integrals over z: short where r = q e^{m z - m^2/2} + 1 - q turns from flat to steep, and ever shorter towards `bend`, where what is
/// integrated reaches an end of its losses: it has all derivatives there and little room for them.
std::vector<double> panels(double m, double bend, double reach) {
  std::vector<double> edges;
  const double length = std::min(1.0, 4.0 / m);
  for (double z = -reach; z < reach + m; z += length) {
    if (!(std::fabs(z - bend) < length)) edges.push_back(z);
  }
  edges.push_back(reach + m);
  for (double away = length; away > 1e-6; away *= 0.5) {
    for (const double z : {bend - away, bend + away}) {
      if (z > -reach && z < reach + m) edges.push_back(z);
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// delta of k equal steps: delta_k(eps) = E_P delta_{k-1}(eps - L), a sum of positive numbers; z beyond `reach` adds nothing.
template <class Number>
Number composed(const SampledGaussian& step, int k, const Number& eps, double reach) {
  using std::exp, std::log, std::sqrt;
  const bool removes = step.direction == remove;
  const Number q(step.q), m(step.m), rest = 1 - q;
  if (k == 1) return truth_of<Number>(step, eps);
  if (!removes && eps >= -k * log(rest)) return 0;
  // The other k - 1 losses have an end at (k - 1) log(1 - q), or at minus that.
  Number end = exp(removes ? eps : Number(-eps));
  for (int i = 1; i < k; ++i) end /= rest;
  const Number at = (end - rest) / q;
  const double bend = at > 0 ? static_cast<double>(Number(log(at) / m + m / 2)) : -kInf;
  const auto integrand = [&](const Number& z) {
    const Number r = rest + q * exp(m * z - m * m / 2), l = log(r);
    const Number density = exp(-z * z / 2) / sqrt(2 * boost::math::constants::pi<Number>());
    const Number inner = composed<Number>(step, k - 1, eps - (removes ? l : Number(-l)), reach);
    return Number((removes ? Number(density * r) : density) * inner);
  };
  const std::vector<double> edges = panels(step.m, bend, reach);
  Number sum = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!(edges[i] > edges[i - 1])) continue;
    sum += boost::math::quadrature::gauss<Number, 15>::integrate(integrand, Number(edges[i - 1]),
                                                                 Number(edges[i]));
  }
  return sum;
}

/// Random steps at an eps at which delta of one of them, q k times, is between 1e-300 and 1.
template <class Number>
void expect_enclosed(int k, std::uint64_t all, double least_q, double tolerance) {
  std::mt19937_64 random(kSeed + static_cast<unsigned>(k));
  int count = 0, wide = 0;
  for (std::uint64_t i = 0; i < all; ++i) {
    const double q = log_uniform(random, least_q, 0.9), sigma = log_uniform(random, 0.1, 3.0);
    const SampledGaussian step{q, 1.0 / sigma, 1, i % 3 == 2 ? add : remove};
    const double log_delta =
        -std::uniform_real_distribution<>(1.0, 690.0)(random) * (i % 2 == 0 ? 0.05 : 1.0);
    const double eps = eps_of(step, log_delta);
    const Number truth =
        composed<Number>(step, k, Number(eps), std::sqrt(2.0 * (40.0 - log_delta)));
    if (!(truth > Number(1e-304))) continue;
    SampledGaussian steps = step;
    steps.k = k;
    const LogEnclosure found = delta_of({{steps}}, eps).log;
    const std::string what = "q " + std::to_string(std::log10(q)) + " (log10), sigma " +
                             std::to_string(sigma) + ", " + std::string(name(step.direction)) +
                             ", eps " + std::to_string(eps) + ", case " + std::to_string(i);
    using std::log;
    EXPECT_LE(static_cast<double>(Number(found.log_lo) - log(truth)), tolerance) << what;
    EXPECT_GE(static_cast<double>(Number(found.log_hi) - log(truth)), -tolerance) << what;
    ++count;
    wide += !(found.log_hi - found.log_lo < 1.0);
  }
  EXPECT_GT(count, static_cast<int>(all / 2));
  EXPECT_LE(wide, count / 2) << "of " << count;
}

/// The sampled steps are e^-99 of the whole transform: a truncation bound that looked where that is lost them, and the upper end was 6.5e-8 too low.
TEST(ExtremeSteps, FarHitsCount) {
  const LogEnclosure found =
      delta_of({{SampledGaussian{0.000242, 1.0 / 1.94527, 2, remove}}}, 4.583087).log;
  const double truth = -324.07491961652185;  // by mpmath, 40 digits
  EXPECT_LE(found.log_lo, truth);
  EXPECT_GE(found.log_hi, truth);
  EXPECT_LT(found.log_hi - found.log_lo, 1e-9);
}

TEST(ExtremeSteps, TwoStepsAreEnclosed) {
  using Fifty = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                              boost::multiprecision::et_off>;
  expect_enclosed<Fifty>(2, testing::cases(200, 40), 1e-9, 1e-13);
}

/// Long doubles lose as many digits as q is below 1.
TEST(ExtremeSteps, ThreeStepsAreEnclosed) {
  expect_enclosed<long double>(3, testing::cases(40, 40), 1e-4, 1e-12);
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
