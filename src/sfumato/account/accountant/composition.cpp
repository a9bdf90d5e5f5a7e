#include "sfumato/account/accountant/composition.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"

namespace sfumato {
namespace {

/// Above it a group is bounded by one record that contributes as much as all of them (Spec §19.5).
constexpr std::uint64_t kLargestExactGroup = 64;

/// Adds one kind of release to a loss.
struct Composer {
  const PrivateReleases& all;
  StepDirection direction;
  TotalLoss& loss;

  [[nodiscard]] double group() const { return static_cast<double>(all.group_size); }
  /// By how much contributions differ between neighbours, over the clip, where all records take part.
  [[nodiscard]] double reach() const {
    return group() * (all.relation == NeighbouringRelation::replace_one ? 2.0 : 1.0);
  }

  /// The probability that a step samples any of a group, rounded up.
  [[nodiscard]] double any_sampled(double q) const {
    if (all.group_size == 1) return q;
    return std::min(1.0, -std::expm1(group() * std::log1p(-q)) * (1.0 + 1e-15));
  }

  void add_normal(double mu, double k) const { loss.mu_squared += k * mu * mu; }

  void add_sampled(double q, double m, double k) const {
    if (q < 1.0) {
      loss.steps.push_back(SampledGaussian{q, m, k, direction});
    } else {
      add_normal(direction == StepDirection::replace ? 2.0 * m : m, k);
    }
  }

  void add_gaussian(const GaussianNoise& noise, const PrivateRelease& release) const {
    const double k = static_cast<double>(release.steps), q = release.rate();
    if (noise.noise_multiplier == 0.0) {
      add_noiseless(loss, any_sampled(q), k, direction);
      return;
    }
    const double m = 1.0 / noise.noise_multiplier;
    if (release.sampler == Sampler::full || release.sampler == Sampler::shuffle || q == 1.0) {
      add_normal(reach() * m, k);  // shuffle: k epochs, each of which sees a record once
    } else if (release.sampler == Sampler::fixed_size) {
      loss.steps.push_back(TwoSidedGaussian{q, 2.0 * m, k});
    } else if (all.group_size == 1) {
      loss.steps.push_back(SampledGaussian{q, m, k, direction});
    } else if (direction == StepDirection::replace || all.group_size > kLargestExactGroup) {
      // All of a group that are sampled are exchanged or removed, none if none is: one record that contributes as much (Spec §19.5).
      add_sampled(any_sampled(q), group() * m, k);
    } else {
      loss.steps.push_back(GroupGaussian{q, m, static_cast<int>(all.group_size), k, direction});
    }
  }

  void add_laplace(const LaplaceNoise& noise, const PrivateRelease& release) const {
    const double k = static_cast<double>(release.steps);
    if (noise.noise_multiplier == 0.0) {
      add_noiseless(loss, 1.0, k, direction);
    } else {
      loss.steps.push_back(LaplaceStep{reach() / noise.noise_multiplier, k});
    }
  }

  /// A group of g: (g e, d (e^{ge} - 1) / (e^e - 1)), step by step from neighbour to neighbour.
  void add_known(const KnownStep& step, const PrivateRelease& release) const {
    const double k = static_cast<double>(release.steps), e = step.epsilon.nats();
    double failure = step.delta.probability();
    if (all.group_size > 1) {
      failure *= e == 0.0 ? group() : std::expm1(group() * e) / std::expm1(e);
      failure = std::min(1.0, failure * (1.0 + 1e-14));
    }
    if (failure > 0.0) add_failures(loss, failure, k);
    if (e > 0.0) loss.steps.push_back(RandomisedResponse{group() * e, k});
  }

  /// What exceeds the cap is dropped, which may show (Spec §19.6): with probability tau at most, and then all of it.
  void add_cap(const PrivateRelease& release) const {
    const boost::math::binomial_distribution<double> others(
        static_cast<double>(release.records - 1), release.sample_rate);
    const double beyond = *release.batch_cap > release.records - 1
                              ? 0.0
                              : boost::math::cdf(boost::math::complement(
                                    others, static_cast<double>(*release.batch_cap) - 1.0));
    const double tau = std::min(1.0, static_cast<double>(release.steps) * beyond * (1.0 + 1e-9));
    if (tau > 0.0) add_failures(loss, tau, 1.0);
  }
};

}  // namespace

std::vector<StepDirection> directions_of(NeighbouringRelation relation) {
  if (relation == NeighbouringRelation::replace_one) return {StepDirection::replace};
  return {StepDirection::remove, StepDirection::add};
}

TotalLoss loss_of(const PrivateReleases& releases, StepDirection direction) {
  TotalLoss loss;
  const Composer composer{releases, direction, loss};
  for (const PrivateRelease& release : releases.list) {
    require_accountable(release, releases.relation, releases.group_size);
    if (release.steps == 0 || release.rate() == 0.0) continue;
    std::visit(
        Overloaded{[&](const GaussianNoise& noise) { composer.add_gaussian(noise, release); },
                   [&](const LaplaceNoise& noise) { composer.add_laplace(noise, release); },
                   [&](const KnownStep& step) { composer.add_known(step, release); },
                   [&](const HiddenIterates& last) {
                     composer.add_normal(last.mu * composer.group(),
                                         static_cast<double>(release.steps));
                   }},
        release.mechanism);
    if (release.batch_cap) composer.add_cap(release);
  }
  return loss;
}

bool is_attained(const PrivateReleases& releases) {
  for (const PrivateRelease& release : releases.list) {
    const bool noise = std::holds_alternative<GaussianNoise>(release.mechanism) ||
                       std::holds_alternative<LaplaceNoise>(release.mechanism);
    const bool sampler = release.sampler == Sampler::full || release.sampler == Sampler::poisson;
    const bool bounded_group =
        releases.group_size > kLargestExactGroup ||
        (releases.group_size > 1 && releases.relation == NeighbouringRelation::replace_one);
    if (!noise || !sampler || release.batch_cap || bounded_group) return false;
  }
  return true;
}

}  // namespace sfumato
