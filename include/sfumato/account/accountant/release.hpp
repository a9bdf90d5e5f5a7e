#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/core/units.hpp"

namespace sfumato {

/// Which data sets count as neighbours (Spec §17.1).
enum class NeighbouringRelation {
  add_remove,   ///< one has a record more
  zero_out,     ///< a record of one is a null record in the other, which contributes nothing
  replace_one,  ///< a record of one is another in the other
};
/// "add_remove", "zero_out" or "replace_one".
[[nodiscard]] std::string_view name(NeighbouringRelation relation);

/// How the records of a step are chosen.
enum class Sampler {
  full,        ///< all of them
  poisson,     ///< each by a coin of its own, fresh in every step
  fixed_size,  ///< a uniform subset of fixed size, fresh in every step
  shuffle,     ///< a permutation per epoch, cut into batches
  allocate,    ///< each record draws its batch of an epoch by itself
};
/// "full", "poisson", "fixed_size", "shuffle" or "allocate".
[[nodiscard]] std::string_view name(Sampler sampler);
/// Whether `steps` of a release are passes over the records.
[[nodiscard]] inline bool counts_epochs(Sampler sampler) {
  return sampler == Sampler::shuffle || sampler == Sampler::allocate;
}

/// Normal noise on a sum of clipped contributions; the deviation of the noise over the largest contribution of a record. 0: none.
/// Clips and noise that differ between layers or directions come to one number too: clipping.hpp.
struct GaussianNoise {
  double noise_multiplier;
  friend bool operator==(const GaussianNoise&, const GaussianNoise&) = default;
};

/// Laplace noise on a sum, each contribution clipped in the L1 norm; the scale of the noise over the clip.
struct LaplaceNoise {
  double noise_multiplier;
  friend bool operator==(const LaplaceNoise&, const LaplaceNoise&) = default;
};

/// A step of which only this is known: for the neighbouring relation of the accountant, the step is (epsilon, delta)-private.
struct KnownStep {
  Epsilon epsilon;
  Delta delta;
  friend bool operator==(const KnownStep&, const KnownStep&) = default;
};

/// Noisy gradient descent of which the last iterate alone is released, as mu of Gaussian privacy: last_iterate.hpp.
struct HiddenIterates {
  double mu;
  friend bool operator==(const HiddenIterates&, const HiddenIterates&) = default;
};

using Mechanism = std::variant<GaussianNoise, LaplaceNoise, KnownStep, HiddenIterates>;
/// "gaussian", "laplace", "known" or "last_iterate".
[[nodiscard]] std::string_view name(const Mechanism& mechanism);

/// Equal steps that each release something about the records.
struct PrivateRelease {
  Mechanism mechanism;
  Sampler sampler = Sampler::full;
  double sample_rate = 1.0;  ///< of `poisson`: the probability of each record, in [0, 1]
  std::uint64_t steps = 1;   ///< additions of noise; of `shuffle` and `allocate`: epochs
  std::uint64_t records =
      0;  ///< of `fixed_size`: of the table; of a batch cap: of the larger table
  std::uint64_t batch_size = 0;  ///< of `fixed_size`
  /// Of `poisson`: of more records that are drawn a uniformly random subset of so many is kept (Spec §19.8).
  std::optional<std::uint64_t> batch_cap = {};
  std::uint64_t batches = 0;  ///< of `allocate`: of an epoch
  std::uint64_t turns = 1;    ///< of `allocate`: different batches of an epoch that a record is in

  /// The probability that a given record takes part in a step.
  [[nodiscard]] double rate() const;
  friend bool operator==(const PrivateRelease&, const PrivateRelease&) = default;
};

/// PrivateReleases about the same records, and between whom they must not tell.
struct PrivateReleases {
  NeighbouringRelation relation;
  std::uint64_t group_size = 1;  ///< records that differ at once
  std::vector<PrivateRelease> list = {};
  /// What a guarantee rests on besides what its releases need, in words: of whoever trained.
  std::vector<std::string> rests_on = {};
};

/// Releases of the same records, and what they rest on, each condition once.
void add_releases(PrivateReleases& to, const PrivateReleases& more);
void add_conditions(PrivateReleases& to, const std::vector<std::string>& conditions);

/// Refuses what is no release, and what has no proof for these neighbours: the message says why, and what would be valid.
/// Throws   InvalidArgument at the key of the offending value.
void require_accountable(const PrivateRelease& release, NeighbouringRelation relation,
                         std::uint64_t group_size);

}  // namespace sfumato
