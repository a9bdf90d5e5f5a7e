// Laws of the accountant over random lists of releases, and over nasty ones (Spec §20.3).
#include "sfumato/privacy/accounting/accountant.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/privacy/accounting/calibrate.hpp"

namespace sfumato {
namespace {

double between(double low, double high) {
  return low + (high - low) * *rc::gen::inRange(0, 1000001) / 1e6;
}
double log_between(double low, double high) {
  return std::exp(between(std::log(low), std::log(high)));
}

PrivateRelease some_gaussian(NeighbouringRelation relation) {
  const double multiplier = log_between(0.5, 20.0);
  const auto steps = static_cast<std::uint64_t>(log_between(1.0, 1e6));
  switch (*rc::gen::inRange(0, relation == NeighbouringRelation::replace_one ? 4 : 2)) {
    case 0: return {GaussianNoise{multiplier}, Sampler::poisson, log_between(1e-4, 1.0), steps};
    case 1: return {GaussianNoise{multiplier * 10.0}, Sampler::full, 1.0, 1 + steps % 1000};
    case 2: return {GaussianNoise{multiplier}, Sampler::fixed_size, 1.0, 1 + steps % 5000, 1000, 10};
    default: return {GaussianNoise{multiplier * 10.0}, Sampler::shuffle, 1.0, 1 + steps % 50};
  }
}

PrivateRelease some_release(NeighbouringRelation relation) {
  switch (*rc::gen::inRange(0, 6)) {
    case 0: return {LaplaceNoise{log_between(5.0, 500.0)}, Sampler::full, 1.0, 1 + static_cast<std::uint64_t>(between(0, 20))};
    case 1:
      return {KnownStep{Epsilon(log_between(1e-3, 0.3)), Delta(log_between(1e-14, 1e-9))},
              Sampler::full, 1.0, 1 + static_cast<std::uint64_t>(between(0, 20))};
    case 2: return {HiddenIterates{log_between(1e-3, 1.0)}};
    default: return some_gaussian(relation);
  }
}

NeighbouringRelation some_relation() {
  return *rc::gen::element(NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
                           NeighbouringRelation::replace_one);
}

Accountant some_accountant() {
  const NeighbouringRelation relation = some_relation();
  Accountant accountant(relation);
  const int count = *rc::gen::inRange(1, 4);
  for (int i = 0; i < count; ++i) accountant.compose(some_release(relation));
  return accountant;
}

Accountant of(const PrivateReleases& releases) {
  Accountant accountant(releases.relation, releases.group_size);
  for (const PrivateRelease& release : releases.list) accountant.compose(release);
  return accountant;
}

void expect_enclosure(const Enclosure& found, double most) {
  RC_ASSERT(!std::isnan(found.lower.value) && !std::isnan(found.upper.value));
  RC_ASSERT(found.lower.value >= 0.0);
  RC_ASSERT(found.lower.value <= found.upper.value);
  RC_ASSERT(found.upper.value <= most);
}

RC_GTEST_PROP(AccountantLaws, NumbersAreEnclosures, ()) {
  const Accountant accountant = some_accountant();
  expect_enclosure(accountant.delta(Epsilon(log_between(1e-3, 50))), 1.0);
  expect_enclosure(accountant.epsilon(Delta(log_between(1e-12, 0.5))), INFINITY);
  expect_enclosure(accountant.advantage(), 1.0);
  expect_enclosure(accountant.tpr(log_between(1e-6, 1.0)), 1.0);
  expect_enclosure(accountant.attack_accuracy(between(0.01, 0.99)), 1.0);
}

RC_GTEST_PROP(AccountantLaws, EpsilonAndDeltaAreInverse, ()) {
  const Accountant accountant = some_accountant();
  const double epsilon = log_between(0.05, 20);
  const double delta = accountant.delta(Epsilon(epsilon)).upper.value;
  RC_PRE(delta > 1e-200 && delta < 0.99);
  RC_ASSERT(accountant.epsilon(Delta(delta)).upper.value <= epsilon * (1 + 1e-9));
}

RC_GTEST_PROP(AccountantLaws, MoreEpsilonLessDelta, ()) {
  const Accountant accountant = some_accountant();
  const double a = log_between(1e-2, 10), b = a * log_between(1.01, 3), middle_weight = between(0.1, 0.9);
  const Enclosure at_a = accountant.delta(Epsilon(a)), at_b = accountant.delta(Epsilon(b));
  RC_ASSERT(at_b.lower.value <= at_a.upper.value);
  // Convex in e^eps.
  const double x = std::log(middle_weight * std::exp(a) + (1 - middle_weight) * std::exp(b));
  const Enclosure between_them = accountant.delta(Epsilon(x));
  RC_ASSERT(between_them.lower.value <=
            (middle_weight * at_a.upper.value + (1 - middle_weight) * at_b.upper.value) * (1 + 1e-12));
}

RC_GTEST_PROP(AccountantLaws, MoreReleasesRevealMore, ()) {
  const Accountant some = some_accountant();
  Accountant more = some;
  more.compose(some_release(some.releases().relation));
  const Epsilon epsilon(log_between(0.01, 10));
  RC_ASSERT(some.delta(epsilon).lower.value <= more.delta(epsilon).upper.value);
}

RC_GTEST_PROP(AccountantLaws, LessNoiseRevealsMore, ()) {
  const NeighbouringRelation relation = some_relation();
  PrivateRelease release = some_gaussian(relation);
  const Epsilon epsilon(log_between(0.01, 10));
  const Enclosure before = of({relation, 1, {release}}).delta(epsilon);
  std::get<GaussianNoise>(release.mechanism).noise_multiplier *= between(0.5, 1.0);
  const Enclosure after = of({relation, 1, {release}}).delta(epsilon);
  RC_ASSERT(before.lower.value <= after.upper.value);
  release.steps += static_cast<std::uint64_t>(between(1, 100));
  RC_ASSERT(after.lower.value <= of({relation, 1, {release}}).delta(epsilon).upper.value);
}

RC_GTEST_PROP(AccountantLaws, OrderIsIrrelevant, ()) {
  const Accountant accountant = some_accountant();
  PrivateReleases reversed = accountant.releases();
  std::reverse(reversed.list.begin(), reversed.list.end());
  const Delta delta(log_between(1e-10, 0.1));
  const Enclosure a = accountant.epsilon(delta), b = of(reversed).epsilon(delta);
  RC_ASSERT(a.lower.value <= b.upper.value);
  RC_ASSERT(b.lower.value <= a.upper.value);
}

RC_GTEST_PROP(AccountantLaws, RenyiIsNeverBelow, ()) {
  const Accountant accountant = some_accountant();
  const Delta delta(log_between(1e-10, 0.1));
  RC_ASSERT(accountant.epsilon(delta).lower.value <= accountant.renyi_epsilon(delta).value.nats() * (1 + 1e-12));
}

RC_GTEST_PROP(AccountantLaws, ReplacingCostsAtLeastAsMuchAsRemoving, ()) {
  const PrivateRelease release{GaussianNoise{log_between(0.5, 10)}, Sampler::poisson, log_between(1e-3, 1), 1 + static_cast<std::uint64_t>(between(0, 1e5))};
  const Epsilon epsilon(log_between(0.01, 10));
  RC_ASSERT(of({NeighbouringRelation::add_remove, 1, {release}}).delta(epsilon).lower.value <=
            of({NeighbouringRelation::replace_one, 1, {release}}).delta(epsilon).upper.value);
  RC_ASSERT(of({NeighbouringRelation::add_remove, 1, {release}}).delta(epsilon).lower.value <=
            of({NeighbouringRelation::add_remove, 2, {release}}).delta(epsilon).upper.value);
}

// Far out: whatever is given is answered or refused, with numbers that are numbers.
RC_GTEST_PROP(AccountantLaws, NastyReleases, ()) {
  const auto pick = [](std::vector<double> values) { return *rc::gen::elementOf(values); };
  const double multiplier = pick({1e-300, 1e-20, 1e-3, 0.01, 0.1, 1.0, 100.0, 1e8, 1e300});
  const double rate = pick({1e-300, 1e-20, 1e-12, 1e-7, 0.5, 1.0 - 1e-12, 1.0 - 0x1p-53, 1.0});
  const auto steps = static_cast<std::uint64_t>(pick({1, 2, 10, 1e4, 1e7, 1e15}));
  const NeighbouringRelation relation = some_relation();
  Accountant accountant(relation, static_cast<std::uint64_t>(pick({1, 1, 1, 2, 1000})));
  accountant.compose({GaussianNoise{multiplier}, Sampler::poisson, rate, steps});
  const double epsilon = pick({0, 1e-12, 1e-3, 1, 20, 500, 1e4});
  expect_enclosure(accountant.delta(Epsilon(epsilon)), 1.0);
  expect_enclosure(accountant.epsilon(Delta(pick({1e-300, 1e-30, 1e-5, 0.5, 1.0 - 1e-12}))), INFINITY);
}

}  // namespace
}  // namespace sfumato
