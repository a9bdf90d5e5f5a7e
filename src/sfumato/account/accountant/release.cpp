#include "sfumato/account/accountant/release.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/steps/step.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr std::uint64_t kLargestGroup = 1000000000;

[[noreturn]] void refuse(const char* key, const std::string& problem, const std::string& remedy) {
  throw InvalidArgument(problem, remedy, Where::key(key));
}

void require_batches(const PrivateRelease& release) {
  if (release.batch_size >= 1 && release.batch_size <= release.records) return;
  refuse("batch_size",
         fmt::format("batches of {} out of {} records cannot be drawn", release.batch_size,
                     release.records),
         "Pass batch_size and records, 1 <= batch_size <= records");
}

void require_cap(const PrivateRelease& release, std::uint64_t group_size) {
  if (!release.batch_cap) return;
  if (group_size > 1) {
    refuse("group_size", "groups have no proof here for batches with a cap",
           "Use group_size 1, or leave batch_cap out");
  }
  if (release.sampler != Sampler::poisson) {
    refuse(
        "batch_cap",
        fmt::format("a cap on the batch does not apply to the sampler {}", name(release.sampler)),
        "Leave it out: only Poisson samples vary in size");
  }
  if (*release.batch_cap == 0 || release.records == 0) {
    refuse("batch_cap", "a cap needs a size >= 1 and the number of records",
           "Pass batch_cap and records");
  }
}

void require_allocation(const PrivateRelease& release, std::uint64_t group_size) {
  if (release.sampler != Sampler::allocate) return;
  if (release.batches == 0 || release.batches > (std::uint64_t{1} << 53)) {
    refuse("batches_per_epoch",
           fmt::format("{} batches of an epoch cannot be drawn from", release.batches),
           "Pass the number of batches of every epoch, fixed before the data are seen");
  }
  if (release.turns == 0 || release.turns > release.batches) {
    refuse("batches_per_record",
           fmt::format("a record cannot be in {} of {} different batches", release.turns,
                       release.batches),
           "Pass 1 <= batches_per_record <= batches_per_epoch");
  }
  if (group_size > 1) {
    refuse("group_size", "groups have no proof here for random allocation",
           "Use group_size 1, or sample by poisson");
  }
}

void require_relation(const PrivateRelease& release, NeighbouringRelation relation,
                      std::uint64_t group_size) {
  if (release.sampler == Sampler::fixed_size) {
    if (relation != NeighbouringRelation::replace_one) {
      refuse("adjacency",
             fmt::format("batches of fixed size have no guarantee for {} neighbours: the size of "
                         "the table would change",
                         name(relation)),
             "Use replace_one, or sample by poisson");
    }
    if (group_size > 1) {
      refuse("group_size", "groups have no proof here for batches of fixed size",
             "Use group_size 1, or sample by poisson");
    }
  }
  if (release.sampler == Sampler::allocate && relation == NeighbouringRelation::replace_one) {
    refuse("adjacency", "random allocation has no pair for replace_one neighbours",
           "Use add_remove or zero_out, or sample by poisson");
  }
  if (release.sampler == Sampler::shuffle && relation == NeighbouringRelation::add_remove) {
    refuse("adjacency",
           "shuffled batches have no guarantee for add_remove neighbours: a record that is removed "
           "shifts all later batches",
           "Use zero_out or replace_one, or sample by poisson");
  }
}

}  // namespace

std::string_view name(NeighbouringRelation relation) {
  switch (relation) {
    case NeighbouringRelation::add_remove: return "add_remove";
    case NeighbouringRelation::zero_out: return "zero_out";
    case NeighbouringRelation::replace_one: return "replace_one";
  }
  throw InternalError("a neighbouring relation without a name");
}

std::string_view name(Sampler sampler) {
  switch (sampler) {
    case Sampler::full: return "full";
    case Sampler::poisson: return "poisson";
    case Sampler::fixed_size: return "fixed_size";
    case Sampler::shuffle: return "shuffle";
    case Sampler::allocate: return "allocate";
  }
  throw InternalError("a sampler without a name");
}

std::string_view name(const Mechanism& mechanism) {
  return with_rules(mechanism,
                    [](auto rules, const auto&) { return std::string_view(rules.kName); });
}

double PrivateRelease::rate() const {
  switch (sampler) {
    case Sampler::full:
    case Sampler::shuffle:
    case Sampler::allocate: return 1.0;
    case Sampler::poisson: return sample_rate;
    case Sampler::fixed_size: return static_cast<double>(batch_size) / static_cast<double>(records);
  }
  throw InternalError("a sampler without a rate");
}

void require_accountable(const PrivateRelease& release, NeighbouringRelation relation,
                         std::uint64_t group_size) {
  with_rules(release.mechanism, [](auto rules, const auto& m) { rules.require(m); });
  if (group_size == 0) refuse("group_size", "group_size = 0 is no group", "Pass 1 or more");
  if (group_size > kLargestGroup) {
    refuse("group_size", fmt::format("group_size = {} is more than {}", group_size, kLargestGroup),
           "Protect a smaller group: no noise in use hides a billion records at once");
  }
  if (release.steps > (std::uint64_t{1} << 53)) {
    refuse("steps", fmt::format("{} steps are too many to count", release.steps),
           "Pass at most 2^53");
  }
  if (release.sampler == Sampler::poisson &&
      !(release.sample_rate >= 0.0 && release.sample_rate <= 1.0)) {
    refuse("sample_rate", fmt::format("sample_rate = {} is not in [0, 1]", release.sample_rate),
           "Pass the probability with which a step samples a record");
  }
  if (release.sampler == Sampler::fixed_size) require_batches(release);
  require_cap(release, group_size);
  require_allocation(release, group_size);
  require_relation(release, relation, group_size);
  const bool takes_sampler =
      with_rules(release.mechanism, [](auto rules, const auto&) { return rules.kTakesSampler; });
  if (!takes_sampler && release.sampler != Sampler::full) {
    refuse("sampler",
           fmt::format("sampling by {} amplifies nothing that is proven here for the mechanism {}",
                       name(release.sampler), name(release.mechanism)),
           "Use sampler full, and for a known step its epsilon and delta after sampling");
  }
}

void add_conditions(PrivateReleases& to, const std::vector<std::string>& conditions) {
  for (const std::string& condition : conditions) {
    if (std::find(to.rests_on.begin(), to.rests_on.end(), condition) == to.rests_on.end()) {
      to.rests_on.push_back(condition);
    }
  }
}

void add_releases(PrivateReleases& to, const PrivateReleases& more) {
  to.list.insert(to.list.end(), more.list.begin(), more.list.end());
  add_conditions(to, more.rests_on);
}

}  // namespace sfumato
