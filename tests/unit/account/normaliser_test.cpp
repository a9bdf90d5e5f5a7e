// Normalisers that differ between neighbours: against noncentral chi-square probabilities and the pair spelled out.
#include "sfumato/account/accountant/normaliser.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cmath>
#include <random>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_hockey_stick.hpp"

namespace sfumato {
namespace {

/// Spec §29.2 (iii) as it stands.
double by_chi_squares(const UnequalNormalisers& pair, double eps) {
  const double lam = std::pow(pair.normaliser_p / pair.normaliser_q, 2), d = pair.dimension;
  const double c2 = pair.shift_squared;
  const double rho2 = lam / (lam - 1.0) * (d * std::log(lam) - 2.0 * eps + c2 / (lam - 1.0));
  const double np = c2 / ((lam - 1.0) * (lam - 1.0)), nq = lam * np;
  if (rho2 <= 0.0) return lam > 1.0 ? 0.0 : std::max(0.0, -std::expm1(eps));
  const boost::math::non_central_chi_squared p(d, np), q(d, nq);
  if (lam > 1.0) return cdf(p, rho2) - std::exp(eps) * cdf(q, rho2 / lam);
  return cdf(complement(p, rho2)) - std::exp(eps) * cdf(complement(q, rho2 / lam));
}

TEST(UnequalNormalisers, AreChiSquareProbabilities) {
  std::mt19937_64 random(20261136);
  std::uniform_real_distribution<double> unit;
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    const double b = std::floor(std::exp(1.0 + 5.0 * unit(random)));
    const bool up = unit(random) < .5;
    const UnequalNormalisers pair{std::floor(std::exp(6.0 * unit(random))) + 1.0, up ? b : b - 1.0,
                                  up ? b - 1.0 : b, unit(random) < .3 ? 0.0 : unit(random)};
    const double eps = 3.0 * unit(random);
    const double expected = by_chi_squares(pair, eps);
    if (!(expected > 1e-6 && expected < 1.0 - 1e-6)) continue;  // few digits are left there
    const Enclosure found = unequal_delta(pair, eps);
    ++compared;
    EXPECT_LE(found.lower.value, expected * (1.0 + 1e-7)) << i;
    EXPECT_GE(found.upper.value, expected * (1.0 - 1e-7)) << i;
    EXPECT_LT(found.upper.value - found.lower.value, 1e-7 * expected + 1e-12) << i;
  }
  EXPECT_GT(compared, 80);
}

TEST(UnequalNormalisers, AreTheTableOfTheSpecification) {
  const auto delta = [](double d, double p, double q, double shift_squared, double eps) {
    return unequal_delta(UnequalNormalisers{d, p, q, shift_squared}, eps);
  };
  const auto holds = [](const Enclosure& found, double value) {
    EXPECT_LE(found.lower.value, value * (1.0 + 1e-13));
    EXPECT_GE(found.upper.value, value * (1.0 - 1e-13));
    EXPECT_LT(found.upper.value - found.lower.value, 1e-8 * value);
  };
  holds(delta(79510, 255, 254, 0, 1), .346236736820939);
  holds(delta(79510, 254, 255, 0, 1), .347556642495227);
  holds(delta(1000 * 100, 256, 255, 0, 1), .417605626625545);
  holds(delta(1e4, 4096, 4095, 0, .1), 1.70880484988931e-5);
  holds(delta(1000, 256, 255, 1.0, 2), .0216514528860346);
}

/// A term that stands for many coordinates is as many terms.
TEST(UnequalNormalisers, ManyCoordinatesAreOneTerm) {
  const double excess = .01, shift = .3;
  PrivacyLoss each = isotropic_loss(1.0, excess, shift * shift);
  PrivacyLoss back = isotropic_loss(1.0, 1.0 / 1.01 - 1.0, shift * shift / 1.01);
  for (int i = 1; i < 200; ++i) {
    for (auto [to, by] : {std::pair{&each, excess}, std::pair{&back, 1.0 / 1.01 - 1.0}}) {
      const PrivacyLoss one = isotropic_loss(1.0, by, 0.0);
      to->terms.push_back(one.terms.front());
      to->mean_p += one.mean_p;
      to->variance_p += one.variance_p;
      to->mean_q += one.mean_q;
    }
  }
  for (const double eps : {-1.0, 0.0, .2, 1.0, 3.0}) {
    const double expected = gaussian_hockey_stick(each, back, eps).delta;
    const double found =
        gaussian_hockey_stick(isotropic_loss(200.0, excess, shift * shift),
                              isotropic_loss(200.0, 1.0 / 1.01 - 1.0, shift * shift / 1.01), eps)
            .delta;
    EXPECT_NEAR(found, expected, 1e-10 * expected) << eps;
  }
}

NormalisedRun run_of(Normaliser normaliser, Sampler sampler, double rate, std::uint64_t steps,
                     std::uint64_t records, std::uint64_t dimension, double multiplier) {
  return {normaliser,
          NeighbouringRelation::add_remove,
          records,
          dimension,
          {GaussianNoise{multiplier}, sampler, rate, steps}};
}

TEST(NormaliserFinding, IntOfTheRateMovesAtWholeNumbersOnly) {
  const auto pairs = [](std::uint64_t records) {
    return normaliser_finding(
               run_of(Normaliser::int_qn, Sampler::poisson, .25, 10, records, 10, 1.0), Delta(1e-5))
        .pairs;
  };
  EXPECT_TRUE(pairs(1001).empty());  // 250 for 1000 to 1002
  EXPECT_EQ(pairs(1000), (std::vector<NormaliserPair>{{250.0, 249.0}}));
  EXPECT_EQ(pairs(1003), (std::vector<NormaliserPair>{{251.0, 250.0}}));
  EXPECT_EQ(
      normaliser_finding(run_of(Normaliser::n, Sampler::full, 1.0, 1, 1000, 10, 1.0), Delta(1e-5))
          .pairs,
      (std::vector<NormaliserPair>{{1000.0, 999.0}, {1001.0, 1000.0}}));
  NormalisedRun same = run_of(Normaliser::n, Sampler::full, 1.0, 1, 1000, 10, 1.0);
  same.relation = NeighbouringRelation::zero_out;
  EXPECT_TRUE(normaliser_finding(same, Delta(1e-5)).pairs.empty());
}

/// A mean over all records in one dimension, both neighbours drawn: the events of the pair are seen as often as is proven.
TEST(NormaliserFinding, FullBatchesAreExact) {
  const NormaliserFinding found =
      normaliser_finding(run_of(Normaliser::n, Sampler::full, 1.0, 2, 20, 3, 2.0), Delta(1e-3));
  EXPECT_TRUE(found.is_exact);
  EXPECT_LT(found.epsilon.upper.value - found.epsilon.lower.value,
            1e-6 * found.epsilon.upper.value);
  // The worst of both pairs and directions, by the chi-square formula: mean and noise of (19 c + c + noise)/20 against 19 (-c)... with the record all gradients
  // are c e_1: sums 20 c over 20 and 19 c over 19 agree, so opposite signs are worst, which the bound is.
  double worst = 0.0;
  for (const double larger : {20.0, 21.0}) {
    const double lam = std::pow(larger / (larger - 1.0), 2);
    const double c = 2.0 / 2.0;  // (1 + (N - 1) |1 - N / (N - 1)|) / sigma
    worst = std::max(
        {worst, by_chi_squares({6.0, larger, larger - 1.0, 2.0 * c * c}, found.epsilon.upper.value),
         by_chi_squares({6.0, larger - 1.0, larger, 2.0 * c * c / lam},
                        found.epsilon.upper.value)});
  }
  EXPECT_NEAR(worst, 1e-3, 1e-9);
}

TEST(NormaliserFinding, EpsilonBesideTheLargestLossIsFinite) {
  // One normal distribution is narrower than the other: the loss has a largest value, near which delta falls to 0.
  for (const std::uint64_t records : {5U, 20U, 1000U, 30000U}) {
    for (const double multiplier : {10.0, 60.0, 200.0, 2000.0}) {
      const NormaliserFinding found = normaliser_finding(
          run_of(Normaliser::n, Sampler::full, 1.0, 1, records, 5, multiplier), Delta(1e-6));
      EXPECT_LT(found.epsilon.upper.value, kInf) << records << " " << multiplier;
      EXPECT_LE(found.epsilon.upper.value - found.epsilon.lower.value,
                2e-3 * found.epsilon.upper.value)
          << records << " " << multiplier;
    }
  }
}

TEST(NormaliserFinding, PoissonBatchesAreBoundedFromBothSides) {
  const NormalisedRun run = run_of(Normaliser::int_qn, Sampler::poisson, .25, 10, 4000, 10, 4.0);
  const NormaliserFinding found = normaliser_finding(run, Delta(1e-5));
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_FALSE(found.is_exact);
  EXPECT_GT(found.epsilon.upper.value, found.epsilon.lower.value);
  EXPECT_TRUE(std::isfinite(found.epsilon.upper.value));
  // The larger batches are as rare as is said.
  const boost::math::binomial batch(4000, .25);
  EXPECT_LE(10.0 * cdf(complement(batch, found.most_others)), found.overflow * (1.0 + 1e-6));
  EXPECT_LE(found.overflow, 1e-8);
  // Shuffled: nothing is proven from above.
  NormalisedRun shuffled = run;
  shuffled.release.sampler = Sampler::shuffle;
  EXPECT_EQ(normaliser_finding(shuffled, Delta(1e-5)).epsilon.upper.value, kInf);
  EXPECT_THROW(
      (void)normaliser_finding(run_of(Normaliser::int_qn, Sampler::poisson, 1e-4, 10, 100, 10, 1.0),
                               Delta(1e-5)),
      InvalidArgument);
  EXPECT_THROW((void)normaliser_finding(
                   run_of(Normaliser::batch, Sampler::poisson, .1, 10, 100, 10, 1.0), Delta(1e-5)),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
