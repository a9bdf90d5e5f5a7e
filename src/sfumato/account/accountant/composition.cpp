#include "sfumato/account/accountant/composition.hpp"

#include "sfumato/account/steps/step.hpp"

namespace sfumato {
std::vector<StepDirection> directions_of(NeighbouringRelation relation) {
  if (relation == NeighbouringRelation::replace_one) return {StepDirection::replace};
  return {StepDirection::remove, StepDirection::add};
}

TotalLoss loss_of(const PrivateReleases& releases, StepDirection direction) {
  TotalLoss loss;
  for (const PrivateRelease& release : releases.list) {
    require_accountable(release, releases.relation, releases.group_size);
    if (release.steps == 0 || release.rate() == 0.0) continue;
    const ReleaseSetting setting{release, releases.relation, releases.group_size, direction};
    with_rules(release.mechanism,
               [&](auto rules, const auto& m) { rules.compose(m, setting, loss); });
  }
  return loss;
}

bool is_attained(const PrivateReleases& releases) {
  for (const PrivateRelease& release : releases.list) {
    const bool noise =
        with_rules(release.mechanism, [](auto rules, const auto&) { return rules.kAddsNoise; });
    const bool sampler = release.sampler == Sampler::full || release.sampler == Sampler::poisson ||
                         (release.sampler == Sampler::allocate && release.turns == 1);
    const bool bounded_group =
        releases.group_size > kLargestExactGroup ||
        (releases.group_size > 1 && releases.relation == NeighbouringRelation::replace_one);
    if (!noise || !sampler || release.batch_cap || bounded_group) return false;
  }
  return true;
}

std::optional<PrivateReleases> attained_releases(const PrivateReleases& releases) {
  PrivateReleases attained = releases;
  for (PrivateRelease& release : attained.list) {
    if (!release.batch_cap) continue;
    release.sample_rate =
        kept_probability(release.records, *release.batch_cap, release.sample_rate);
    release.batch_cap.reset();
  }
  return is_attained(attained) ? std::optional(attained) : std::nullopt;
}

}  // namespace sfumato
