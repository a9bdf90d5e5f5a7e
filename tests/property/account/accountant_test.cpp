// Distributions of the accountant over random lists of releases, and over nasty ones (Spec §20.3).
#include "sfumato/account/accountant/accountant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

// Few cases each, since one takes many integrals; the seed is part of what is tested, so that a failure comes again.
constexpr int kCases = 8;

std::mt19937_64& generator() {
  static std::mt19937_64 engine(20261117);
  return engine;
}
double between(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(generator());
}
int one_of(int count) { return std::uniform_int_distribution<int>(0, count - 1)(generator()); }
double log_between(double low, double high) {
  return std::exp(between(std::log(low), std::log(high)));
}

PrivateRelease some_gaussian(NeighbouringRelation relation) {
  const double multiplier = log_between(0.5, 20.0);
  const auto steps = static_cast<std::uint64_t>(log_between(1.0, 1e6));
  switch (one_of(relation == NeighbouringRelation::replace_one ? 4 : 2)) {
    case 0: return {GaussianNoise{multiplier}, Sampler::poisson, log_between(1e-4, 1.0), steps};
    case 1: return {GaussianNoise{multiplier * 10.0}, Sampler::full, 1.0, 1 + steps % 1000};
    case 2:
      return {GaussianNoise{multiplier}, Sampler::fixed_size, 1.0, 1 + steps % 5000, 1000, 10};
    default: return {GaussianNoise{multiplier * 10.0}, Sampler::shuffle, 1.0, 1 + steps % 50};
  }
}

PrivateRelease some_release(NeighbouringRelation relation) {
  switch (one_of(6)) {
    case 0:
      return {LaplaceNoise{log_between(5.0, 500.0)}, Sampler::full, 1.0,
              1 + static_cast<std::uint64_t>(between(0, 20))};
    case 1:
      return {KnownStep{Epsilon(log_between(1e-3, 0.3)), Delta(log_between(1e-14, 1e-9))},
              Sampler::full, 1.0, 1 + static_cast<std::uint64_t>(between(0, 20))};
    case 2: return {HiddenIterates{log_between(1e-3, 1.0)}};
    default: return some_gaussian(relation);
  }
}

NeighbouringRelation some_relation() {
  constexpr NeighbouringRelation kAll[] = {NeighbouringRelation::add_remove,
                                           NeighbouringRelation::zero_out,
                                           NeighbouringRelation::replace_one};
  return kAll[one_of(3)];
}

Accountant some_accountant() {
  const NeighbouringRelation relation = some_relation();
  Accountant accountant(relation);
  const int count = 1 + one_of(3);
  for (int i = 0; i < count; ++i) accountant.compose(some_release(relation));
  return accountant;
}

Accountant of(const PrivateReleases& releases) {
  Accountant accountant(releases.relation, releases.group_size);
  for (const PrivateRelease& release : releases.list) accountant.compose(release);
  return accountant;
}

void expect_enclosure(const Enclosure& found, double most) {
  EXPECT_FALSE(std::isnan(found.lower.value) || std::isnan(found.upper.value));
  EXPECT_GE(found.lower.value, 0.0);
  EXPECT_LE(found.lower.value, found.upper.value);
  EXPECT_LE(found.upper.value, most);
}

void check_numbers_are_enclosures();
TEST(AccountantProperties, NumbersAreEnclosures) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_numbers_are_enclosures();
  }
}
void check_numbers_are_enclosures() {
  const Accountant accountant = some_accountant();
  expect_enclosure(accountant.delta(Epsilon(log_between(1e-3, 50))), 1.0);
  expect_enclosure(accountant.epsilon(Delta(log_between(1e-12, 0.5))), INFINITY);
  expect_enclosure(accountant.advantage(), 1.0);
  expect_enclosure(accountant.tpr(log_between(1e-6, 1.0)), 1.0);
  expect_enclosure(accountant.attack_accuracy(between(0.01, 0.99)), 1.0);
}

void check_epsilon_and_delta_are_inverse();
TEST(AccountantProperties, EpsilonAndDeltaAreInverse) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_epsilon_and_delta_are_inverse();
  }
}
void check_epsilon_and_delta_are_inverse() {
  const Accountant accountant = some_accountant();
  const double epsilon = log_between(0.05, 20);
  const double delta = accountant.delta(Epsilon(epsilon)).upper.value;
  if (!(delta > 1e-200 && delta < 0.99)) return;
  EXPECT_TRUE(accountant.epsilon(Delta(delta)).upper.value <= epsilon * (1 + 1e-9));
}

void check_more_epsilon_less_delta();
TEST(AccountantProperties, MoreEpsilonLessDelta) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_more_epsilon_less_delta();
  }
}
void check_more_epsilon_less_delta() {
  const Accountant accountant = some_accountant();
  const double a = log_between(1e-2, 10), b = a * log_between(1.01, 3),
               middle_weight = between(0.1, 0.9);
  const Enclosure at_a = accountant.delta(Epsilon(a)), at_b = accountant.delta(Epsilon(b));
  EXPECT_TRUE(at_b.lower.value <= at_a.upper.value);
  // Convex in e^eps.
  const double x = std::log(middle_weight * std::exp(a) + (1 - middle_weight) * std::exp(b));
  const Enclosure between_them = accountant.delta(Epsilon(x));
  EXPECT_TRUE(between_them.lower.value <=
              (middle_weight * at_a.upper.value + (1 - middle_weight) * at_b.upper.value) *
                  (1 + 1e-12));
}

void check_more_releases_reveal_more();
TEST(AccountantProperties, MoreReleasesRevealMore) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_more_releases_reveal_more();
  }
}
void check_more_releases_reveal_more() {
  const Accountant some = some_accountant();
  Accountant more = some;
  more.compose(some_release(some.releases().relation));
  const Epsilon epsilon(log_between(0.01, 10));
  EXPECT_TRUE(some.delta(epsilon).lower.value <= more.delta(epsilon).upper.value);
}

void check_less_noise_reveals_more();
TEST(AccountantProperties, LessNoiseRevealsMore) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_less_noise_reveals_more();
  }
}
void check_less_noise_reveals_more() {
  const NeighbouringRelation relation = some_relation();
  PrivateRelease release = some_gaussian(relation);
  const Epsilon epsilon(log_between(0.01, 10));
  const Enclosure before = of({relation, 1, {release}}).delta(epsilon);
  std::get<GaussianNoise>(release.mechanism).noise_multiplier *= between(0.5, 1.0);
  const Enclosure after = of({relation, 1, {release}}).delta(epsilon);
  EXPECT_TRUE(before.lower.value <= after.upper.value);
  release.steps += static_cast<std::uint64_t>(between(1, 100));
  EXPECT_TRUE(after.lower.value <= of({relation, 1, {release}}).delta(epsilon).upper.value);
}

void check_order_is_irrelevant();
TEST(AccountantProperties, OrderIsIrrelevant) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_order_is_irrelevant();
  }
}
void check_order_is_irrelevant() {
  const Accountant accountant = some_accountant();
  PrivateReleases reversed = accountant.releases();
  std::reverse(reversed.list.begin(), reversed.list.end());
  const Delta delta(log_between(1e-10, 0.1));
  const Enclosure a = accountant.epsilon(delta), b = of(reversed).epsilon(delta);
  EXPECT_TRUE(a.lower.value <= b.upper.value);
  EXPECT_TRUE(b.lower.value <= a.upper.value);
}

void check_renyi_is_never_below();
TEST(AccountantProperties, RenyiIsNeverBelow) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_renyi_is_never_below();
  }
}
void check_renyi_is_never_below() {
  const Accountant accountant = some_accountant();
  const Delta delta(log_between(1e-10, 0.1));
  EXPECT_TRUE(accountant.epsilon(delta).lower.value <=
              accountant.renyi_epsilon(delta).value.nats() * (1 + 1e-12));
}

void check_replacing_costs_at_least_as_much_as_removing();
TEST(AccountantProperties, ReplacingCostsAtLeastAsMuchAsRemoving) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_replacing_costs_at_least_as_much_as_removing();
  }
}
void check_replacing_costs_at_least_as_much_as_removing() {
  const PrivateRelease release{GaussianNoise{log_between(0.5, 10)}, Sampler::poisson,
                               log_between(1e-3, 1),
                               1 + static_cast<std::uint64_t>(between(0, 1e5))};
  const Epsilon epsilon(log_between(0.01, 10));
  EXPECT_TRUE(of({NeighbouringRelation::add_remove, 1, {release}}).delta(epsilon).lower.value <=
              of({NeighbouringRelation::replace_one, 1, {release}}).delta(epsilon).upper.value);
  EXPECT_TRUE(of({NeighbouringRelation::add_remove, 1, {release}}).delta(epsilon).lower.value <=
              of({NeighbouringRelation::add_remove, 2, {release}}).delta(epsilon).upper.value);
}

// Far out: whatever is given is answered or refused, with numbers that are numbers.
void check_nasty_releases();
TEST(AccountantProperties, NastyReleases) {
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check_nasty_releases();
  }
}
void check_nasty_releases() {
  const auto pick = [](std::vector<double> values) {
    return values[static_cast<std::size_t>(one_of(static_cast<int>(values.size())))];
  };
  const double multiplier = pick({1e-300, 1e-20, 1e-3, 0.01, 0.1, 1.0, 100.0, 1e8, 1e300});
  const double rate = pick({1e-300, 1e-20, 1e-12, 1e-7, 0.5, 1.0 - 1e-12, 1.0 - 0x1p-53, 1.0});
  const auto steps = static_cast<std::uint64_t>(pick({1, 2, 10, 1e4, 1e7, 1e15}));
  const NeighbouringRelation relation = some_relation();
  Accountant accountant(relation, static_cast<std::uint64_t>(pick({1, 1, 1, 2, 1000})));
  accountant.compose({GaussianNoise{multiplier}, Sampler::poisson, rate, steps});
  const double epsilon = pick({0, 1e-12, 1e-3, 1, 20, 500, 1e4});
  expect_enclosure(accountant.delta(Epsilon(epsilon)), 1.0);
  expect_enclosure(accountant.epsilon(Delta(pick({1e-300, 1e-30, 1e-5, 0.5, 1.0 - 1e-12}))),
                   INFINITY);
}

}  // namespace
}  // namespace sfumato
