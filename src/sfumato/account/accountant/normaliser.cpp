#include "sfumato/account/accountant/normaliser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/steps/truncated_poisson.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_hockey_stick.hpp"

namespace sfumato {
namespace {

constexpr const char* kMethod = "normal distributions of unequal covariance";
constexpr double kContour = 1e-9;   // relative, of the contour of Spec §3.3
constexpr double kTauShare = 1e-3;  // of delta, for batches that are larger than is reckoned with
constexpr double kLargestEpsilon = 1e6;

/// lam - 1, without cancellation.
double excess_of(double p, double q) { return (p - q) * (p + q) / (q * q); }

/// What log M of that many coordinates is off by, times two: terms of the size D |log lam| cancel, times an order that a threshold
/// asks for, about sqrt(2 log 1/delta) deviations.
double rounding_of(const UnequalNormalisers& pair, double log_delta, double deviation) {
  const double size =
      pair.dimension * std::fabs(std::log1p(excess_of(pair.normaliser_p, pair.normaliser_q)));
  const double order = 1.0 + std::sqrt(2.0 * std::fabs(log_delta)) / std::max(deviation, 1e-12);
  return 8.0 * kUnit * size * order;
}

/// The pair with the record first, or without it, in T steps; `others` records share a batch with it.
UnequalNormalisers pair_of(const NormaliserPair& of, bool with_first, double dimension,
                           double steps, double others, double multiplier, bool shifted) {
  const double first = with_first ? of.with : of.without,
               second = with_first ? of.without : of.with;
  // The record's own contribution in units of the first noise, and what the others' sum moves by.
  const double own = with_first ? 1.0 : of.without / of.with;
  const double shift = shifted ? (own + others * std::fabs(second - first) / second) / multiplier *
                                     (1.0 + 8.0 * kUnit)
                               : 0.0;
  return {steps * dimension, first, second, steps * shift * shift};
}

/// The least eps found with delta(eps) <= `allowed`, by bisection.
double highest_epsilon(const UnequalNormalisers& pair, double allowed) {
  const auto within = [&](double eps) { return unequal_delta(pair, eps).upper.value <= allowed; };
  if (within(0.0)) return 0.0;
  double low = 0.0, high = 1.0;
  while (!within(high)) {
    low = high;
    high *= 2.0;
    if (high > kLargestEpsilon) return kInf;
  }
  while (high - low > 1e-12 * high) {
    const double middle = 0.5 * (low + high);
    (within(middle) ? high : low) = middle;
  }
  return high;
}

/// An eps with delta(eps) > `allowed`, a little below the least with less: near 1, far below, delta has no digits and no lower end.
double lowest_epsilon(const UnequalNormalisers& pair, double allowed) {
  const double high = highest_epsilon(pair, allowed);
  if (!(high > 0.0 && high < kInf)) return 0.0;
  for (double less = 1e-10; less < 0.5; less *= 4.0) {
    const double eps = high * (1.0 - less);
    if (unequal_delta(pair, eps).lower.value > allowed) return eps;
  }
  return 0.0;
}

std::vector<NormaliserPair> differing(const NormalisedRun& run) {
  if (run.normaliser == Normaliser::declared || run.relation != NeighbouringRelation::add_remove) {
    return {};  // the same number of records on both sides
  }
  const auto of = [&](double records) {
    return run.normaliser == Normaliser::n ? records : std::floor(run.release.rate() * records);
  };
  const auto n = static_cast<double>(run.records);
  std::vector<NormaliserPair> pairs;
  for (const double larger : {n, n + 1.0}) {
    const NormaliserPair pair{of(larger), of(larger - 1.0)};
    if (pair.without < 1.0) {
      throw InvalidArgument(fmt::format("{} of {} records is 0, and a sum cannot be divided by it",
                                        name(run.normaliser), larger - 1.0),
                            "Divide by a declared constant", Where::key("normaliser"));
    }
    if (pair.with != pair.without) pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace

Enclosure unequal_delta(const UnequalNormalisers& pair, double eps) {
  require_positive_finite("dimension", pair.dimension);
  require_positive_finite("normaliser_p", pair.normaliser_p);
  require_positive_finite("normaliser_q", pair.normaliser_q);
  const double shift = require_non_negative("shift_squared", pair.shift_squared);
  const double lam = pair.normaliser_p / pair.normaliser_q;
  const PrivacyLoss forward =
      isotropic_loss(pair.dimension, excess_of(pair.normaliser_p, pair.normaliser_q), shift);
  const PrivacyLoss reverse = isotropic_loss(
      pair.dimension, excess_of(pair.normaliser_q, pair.normaliser_p), shift / (lam * lam));
  const HockeyStick found = gaussian_hockey_stick(forward, reverse, eps);
  if (found.log_delta == -kInf) {
    // At or beyond the largest loss, as computed. Were the true one larger by h, delta, the mean of 1 - e^{eps - L} where L > eps, would be at most h.
    const double excess = excess_of(pair.normaliser_p, pair.normaliser_q);
    const double size = pair.dimension * std::fabs(std::log1p(excess)) +
                        (shift > 0.0 ? shift * (1.0 + 1.0 / std::fabs(excess)) : 0.0) +
                        std::fabs(eps);
    const double least = std::max(0.0, -std::expm1(eps));
    return {{least, Claim::lower_bound, kMethod},
            {std::min(1.0, least + 64.0 * kUnit * size), Claim::upper_bound, kMethod}};
  }
  const double error = kContour + rounding_of(pair, found.log_delta, std::sqrt(forward.variance_p));
  const double low = found.claim == Claim::exact ? found.delta * (1.0 - error) : 0.0;
  return {{std::max({0.0, -std::expm1(eps), low}), Claim::lower_bound, kMethod},
          {std::min(1.0, found.delta * (1.0 + error)), Claim::upper_bound, kMethod}};
}

NormaliserFinding normaliser_finding(const NormalisedRun& run, Delta delta) {
  if (run.normaliser == Normaliser::batch) {
    throw InvalidArgument(
        "a sum divided by the actual batch size shows that size, which one record changes",
        "Divide by the expected batch size", Where::key("normaliser"));
  }
  const auto* noise = std::get_if<GaussianNoise>(&run.release.mechanism);
  if (noise == nullptr || noise->noise_multiplier <= 0.0) {
    throw InvalidArgument("is known for Gaussian noise alone", "Divide by a declared constant",
                          Where::key("normaliser"));
  }
  NormaliserFinding finding{differing(run), {{0.0, Claim::lower_bound}, {0.0, Claim::upper_bound}}};
  if (finding.pairs.empty()) return finding;
  const PrivateRelease& release = run.release;
  const double allowed = delta.probability(), multiplier = noise->noise_multiplier;
  const bool full = release.rate() == 1.0 && release.sampler != Sampler::shuffle &&
                    release.sampler != Sampler::allocate;
  const bool poisson = release.sampler == Sampler::poisson && !full && !release.batch_cap;
  // A pass over the records is as many steps as it has batches: at least one.
  const auto steps = static_cast<double>(release.steps) *
                     static_cast<double>(std::max<std::uint64_t>(1, release.batches));
  finding.is_exact = full;
  double others =
      static_cast<double>(run.records);  // beside the record, in the larger of the pairs
  double left = allowed;
  if (poisson) {
    // As few as leave nearly all of delta (Spec §29.4).
    std::uint64_t low = 0, high = run.records;
    const auto tau = [&](std::uint64_t most) {
      return steps * overflow_probability(run.records + 1, most + 1, release.sample_rate);
    };
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (tau(middle) <= kTauShare * allowed) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    others = static_cast<double>(high);
    finding.overflow = std::min(1.0, tau(high) * (1.0 + 1e-9));
    left = (allowed - finding.overflow) / (1.0 - finding.overflow) * (1.0 - 4.0 * kUnit);
  }
  finding.most_others = others;
  double low = 0.0, high = 0.0;
  for (const NormaliserPair& pair : finding.pairs) {
    for (const bool with_first : {true, false}) {
      const auto dimension = static_cast<double>(run.dimension);
      // Of full batches, whose normaliser is their size, the others are all but the record.
      const double beside = full ? pair.with - 1.0 : others;
      const auto of = [&](bool shifted) {
        return pair_of(pair, with_first, dimension, steps, beside, multiplier, shifted);
      };
      // Records that contribute nothing are data too: the noise alone, or, of full batches, everything.
      low = std::max(low, lowest_epsilon(of(full), allowed));
      high = std::max(high, full || poisson ? highest_epsilon(of(true), left) : kInf);
    }
  }
  finding.epsilon = {{low, Claim::lower_bound, kMethod}, {high, Claim::upper_bound, kMethod}};
  return finding;
}

}  // namespace sfumato
