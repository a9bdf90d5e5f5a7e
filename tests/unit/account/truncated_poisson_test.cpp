#include "sfumato/account/steps/truncated_poisson.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/profile.hpp"
#include "sfumato/account/lattice/pld.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// A mixture of normal distributions of variance 1.
struct Part {
  double weight, mean;
};
using Output = std::vector<Part>;

double density(const Output& output, double z) {
  double sum = 0.0;
  for (const auto& [weight, mean] : output)
    sum += weight * std::exp(-0.5 * (z - mean) * (z - mean));
  return sum / std::sqrt(2.0 * std::acos(-1.0));
}

/// By the trapezoidal rule, to 1e-6 (the integrand has a kink).
double hockey_stick(const Output& p, const Output& q, double eps) {
  constexpr double kSpacing = 4e-3;
  double sum = 0.0;
  for (double z = -10.0; z <= 10.0; z += kSpacing) {
    sum += std::max(0.0, density(p, z) - std::exp(eps) * density(q, z));
  }
  return sum * kSpacing;
}

/// The output of one step on these contributions by enumeration: each is drawn with the probability q, and of more than `cap` a uniform subset is kept.
Output output_of(const std::vector<double>& contributions, std::size_t cap, double q) {
  const std::size_t n = contributions.size();
  Output result;
  for (unsigned drawn = 0; drawn < (1U << n); ++drawn) {
    const auto size = static_cast<std::size_t>(std::popcount(drawn));
    const double chance =
        std::pow(q, static_cast<double>(size)) * std::pow(1.0 - q, static_cast<double>(n - size));
    std::vector<unsigned> kept;
    for (unsigned subset = 0; subset < (1U << n); ++subset) {
      const auto wanted = static_cast<int>(std::min(size, cap));
      if ((subset & ~drawn) == 0 && std::popcount(subset) == wanted) kept.push_back(subset);
    }
    for (const unsigned subset : kept) {
      double mean = 0.0;
      for (std::size_t i = 0; i < n; ++i) mean += (subset >> i & 1U) != 0 ? contributions[i] : 0.0;
      const double weight = chance / static_cast<double>(kept.size());
      const auto same = std::find_if(result.begin(), result.end(), [&](const Part& part) {
        return std::fabs(part.mean - mean) < 1e-9;
      });
      if (same != result.end()) {
        same->weight += weight;
      } else {
        result.push_back({weight, mean});
      }
    }
  }
  return result;
}

TotalLoss loss_of(const StepLoss& step) {
  TotalLoss loss;
  loss.steps.push_back(step);
  return loss;
}

const std::vector<double> kEpsilons = {-0.7, -0.2, 0.0, 0.1, 0.5, 1.0, 2.0};

/// Every choice of three other contributions of -m, 0 and m; their order does not matter.
std::vector<std::vector<double>> all_others(double m) {
  std::vector<std::vector<double>> all;
  for (int a = -1; a <= 1; ++a) {
    for (int b = a; b <= 1; ++b) {
      for (int c = b; c <= 1; ++c) all.push_back({a * m, b * m, c * m});
    }
  }
  return all;
}

/// The bounds of one step at kEpsilons.
std::vector<double> bounds_of(const TruncatedPoisson& step) {
  LossProfile profile(loss_of(step));
  std::vector<double> bounds;
  for (const double eps : kEpsilons) bounds.push_back(profile.delta(eps).hi());
  return bounds;
}

void expect_dominated(const Output& p, const Output& q, const std::vector<double>& bounds) {
  for (std::size_t i = 0; i < kEpsilons.size(); ++i) {
    EXPECT_LE(hockey_stick(p, q, kEpsilons[i]), bounds[i] + 1e-6) << "eps " << kEpsilons[i];
  }
}

// Enumeration over all draws, all cuts and all other contributions (Spec §19.8).
TEST(TruncatedPoisson, DominatesEverySmallDataSet) {
  for (const double q : {0.2, 0.6}) {
    for (const std::size_t cap : {1U, 2U}) {
      const double m = 0.8, tau = overflow_probability(4, cap, q);
      const TruncatedPoisson removed{q, m, tau, 1.0, StepDirection::remove};
      const TruncatedPoisson nulled{q, m, tau, 1.0, StepDirection::remove, true};
      const auto of_removed = bounds_of(removed), of_added = bounds_of(removed.exchanged());
      const auto of_nulled = bounds_of(nulled), of_filled = bounds_of(nulled.exchanged());
      const auto of_replaced = bounds_of({q, m, tau, 1.0, StepDirection::replace, true});
      for (std::vector<double> records : all_others(m)) {
        const Output without = output_of(records, cap, q);
        records.push_back(0.0);
        const Output null = output_of(records, cap, q);  // takes a place of the batch
        records.back() = -m;
        const Output other = output_of(records, cap, q);
        records.back() = m;
        const Output with = output_of(records, cap, q);
        expect_dominated(with, without, of_removed);
        expect_dominated(without, with, of_added);
        expect_dominated(with, null, of_nulled);
        expect_dominated(null, with, of_filled);
        expect_dominated(with, without, of_nulled);  // a null record that takes none
        expect_dominated(with, other, of_replaced);
      }
    }
  }
}

TEST(TruncatedPoisson, DataThatContributeNothingAttainTheLowerRate) {
  const double q = 0.4, m = 1.1;
  for (const std::size_t cap : {1U, 2U, 3U}) {
    const double kept = kept_probability(4, cap, q);
    const Output with = output_of({0.0, 0.0, 0.0, m}, cap, q);
    for (const double eps : {0.0, 0.3, 1.0}) {
      const double exact = hockey_stick(with, {{1.0, 0.0}}, eps);
      EXPECT_NEAR(delta_of(loss_of(SampledGaussian{kept, m, 1.0}), eps).hi(), exact, 1e-6) << cap;
    }
  }
}

TEST(TruncatedPoisson, ProbabilitiesAreThoseOfTheBinomialDistribution) {
  const std::uint64_t n = 12;
  const double q = 0.3;
  for (std::uint64_t cap = 1; cap <= n; ++cap) {
    double overflow = 0.0, kept = 0.0;
    for (std::uint64_t j = 0; j < n; ++j) {
      const double others = static_cast<double>(j);
      const double chance =
          std::exp(std::lgamma(12.0) - std::lgamma(others + 1.0) - std::lgamma(12.0 - others) +
                   others * std::log(q) + (11.0 - others) * std::log1p(-q));
      if (j >= cap) overflow += chance;
      kept += chance * q * std::min(1.0, static_cast<double>(cap) / (others + 1.0));
    }
    EXPECT_NEAR(overflow_probability(n, cap, q), overflow, 2e-9 * overflow + 1e-16) << cap;
    EXPECT_GE(overflow_probability(n, cap, q), overflow * (1.0 - 1e-12)) << cap;
    EXPECT_NEAR(kept_probability(n, cap, q), kept, 1e-8 * kept) << cap;
    EXPECT_LE(kept_probability(n, cap, q), kept * (1.0 + 1e-12)) << cap;
  }
  EXPECT_EQ(overflow_probability(10, 10, q), 0.0);
  EXPECT_EQ(kept_probability(10, 10, q), q);
  EXPECT_GT(overflow_probability(1000, 999, 1e-3), 0.0);  // no double holds it
}

// Five steps simulated, the other contributions against the record; the false-alarm probability of four standard errors is 3e-5.
TEST(TruncatedPoisson, DominatesSimulatedSteps) {
  const double q = 0.5, m = 0.5;
  const std::size_t cap = 2;
  const int steps = 5, runs = 40000;
  const Output without = output_of({-m, -m, m}, cap, q), with = output_of({-m, -m, m, m}, cap, q);
  LossProfile profile(
      loss_of(TruncatedPoisson{q, m, overflow_probability(4, cap, q), static_cast<double>(steps)}));
  std::mt19937_64 bits(7);
  std::normal_distribution<double> normal;
  std::vector<double> chances;
  for (const Part& part : with) chances.push_back(part.weight);
  std::discrete_distribution<std::size_t> choose(chances.begin(), chances.end());
  std::vector<double> losses;
  for (int run = 0; run < runs; ++run) {
    double loss = 0.0;
    for (int i = 0; i < steps; ++i) {
      const double z = with[choose(bits)].mean + normal(bits);
      loss += std::log(density(with, z) / density(without, z));
    }
    losses.push_back(loss);
  }
  for (const double eps : {0.0, 0.5, 1.0}) {
    double sum = 0.0, square = 0.0;
    for (const double loss : losses) {
      const double part = std::max(0.0, -std::expm1(eps - loss));
      sum += part;
      square += part * part;
    }
    const double mean = sum / runs;
    const double error = std::sqrt((square / runs - mean * mean) / runs);
    EXPECT_LE(mean - 4.0 * error, profile.delta(eps).hi()) << eps;
    EXPECT_GT(mean + 4.0 * error, 0.05 * profile.delta(eps).hi()) << eps;  // and it is not far
  }
}

TEST(TruncatedPoisson, BothAccountantsEncloseTheSame) {
  for (const bool exchanges : {false, true}) {
    for (const StepDirection direction :
         {StepDirection::remove, StepDirection::add, StepDirection::replace}) {
      if (direction == StepDirection::replace && !exchanges) continue;
      for (const double overflow : {1e-9, 1e-3, 0.4}) {
        const TotalLoss loss =
            loss_of(TruncatedPoisson{0.02, 0.9, overflow, 300.0, direction, exchanges});
        const LogEnclosure contour = delta_of(loss, 0.8).log, lattice = pld_delta(loss, 0.8);
        EXPECT_LE(std::max(contour.log_lo, lattice.log_lo),
                  std::min(contour.log_hi, lattice.log_hi))
            << overflow << " " << name(direction) << " " << exchanges;
        EXPECT_LT(contour.log_hi - contour.log_lo, 1e-2) << overflow << " " << name(direction);
      }
    }
  }
}

TEST(TruncatedPoisson, IsBetweenItsParts) {
  const double q = 0.02, m = 1.0, k = 200.0, eps = 0.5;
  const double uncut = delta_of(loss_of(SampledGaussian{q, m, k}), eps).lo();
  const double cut = delta_of(loss_of(SampledGaussian{q, 2.0 * m, k}), eps).hi();
  double last = uncut;
  for (const double overflow : {1e-12, 1e-4, 1e-2, 0.5, 0.999}) {
    const DeltaEnclosure found = delta_of(loss_of(TruncatedPoisson{q, m, overflow, k}), eps);
    EXPECT_GE(found.hi(), last * (1.0 - 1e-12)) << overflow;
    EXPECT_LE(found.lo(), cut) << overflow;
    last = found.lo();
  }
}

TEST(TruncatedPoisson, CostsFarLessThanDisclosure) {
  PrivateRelease plain{GaussianNoise{1.0}, Sampler::poisson, 0.01, 1000};
  PrivateRelease capped = plain;
  capped.records = 10000;
  capped.batch_cap = 160;  // six deviations above the mean
  for (const NeighbouringRelation relation :
       {NeighbouringRelation::add_remove, NeighbouringRelation::zero_out,
        NeighbouringRelation::replace_one}) {
    const Accountant without(PrivateReleases{relation, 1, {plain}});
    const Accountant with(PrivateReleases{relation, 1, {capped}});
    const double bare = without.epsilon(Delta(1e-5)).upper.value;
    const Enclosure cut = with.epsilon(Delta(1e-5));
    EXPECT_GT(cut.upper.value, bare) << name(relation);
    EXPECT_LT(cut.upper.value, 1.01 * bare) << name(relation);
    EXPECT_LE(cut.lower.value, cut.upper.value) << name(relation);
    EXPECT_GT(cut.lower.value, 0.99 * bare) << name(relation);
    EXPECT_TRUE(with.methods_agree(Epsilon(1.0))) << name(relation);
  }
}

TEST(TruncatedPoisson, RefusesWhatIsNoProbability) {
  EXPECT_THROW((void)delta_of(loss_of(TruncatedPoisson{0.1, 1.0, 0.0, 10.0}), 1.0),
               InvalidArgument);
  EXPECT_THROW((void)delta_of(loss_of(TruncatedPoisson{0.1, 1.0, 1.0, 10.0}), 1.0),
               InvalidArgument);
  EXPECT_THROW((void)delta_of(loss_of(TruncatedPoisson{1.0, 1.0, 0.1, 10.0}), 1.0),
               InvalidArgument);
  EXPECT_THROW((void)delta_of(loss_of(TruncatedPoisson{0.1, -1.0, 0.1, 10.0}), 1.0),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
