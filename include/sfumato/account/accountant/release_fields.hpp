#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sfumato/account/accountant/release.hpp"

namespace sfumato {

/// Which of the alternatives of Mechanism.
enum class MechanismKind : std::size_t {};
[[nodiscard]] std::vector<MechanismKind> mechanism_kinds();
[[nodiscard]] std::string_view name(MechanismKind kind);

/// What the noisy batch sum is divided by (Spec §29).
enum class Normaliser {
  declared,  ///< a public constant, the expected batch size of a declared number of records
  int_qn,    ///< the whole part of sample rate times number of records, as Opacus does
  n,         ///< the number of records
  batch,     ///< the size of the batch that was drawn
};
/// "declared", "int_qn", "n" or "batch".
[[nodiscard]] std::string_view name(Normaliser normaliser);

/// A release as people write it down, in a file, on a command line or in the settings of other tools: nothing is derived yet, and what is not
/// given is empty.
struct ReleaseFields {
  MechanismKind mechanism{0};
  std::optional<Sampler> sampler;
  std::vector<double> noise_multiplier;  ///< several: settings to compare
  std::optional<double> noise_std, clip;
  std::vector<double> clips, noise_stds;
  std::optional<double> sample_rate;
  std::optional<std::uint64_t> steps, records, batch_size, batch_cap;
  std::optional<double> epochs;
  std::optional<std::uint64_t> batches_per_epoch, batches_per_record;
  Normaliser normaliser = Normaliser::declared;
  std::optional<std::uint64_t> dimension;  ///< parameters, for a normaliser that moves
  std::optional<double> step_epsilon, step_delta;
  std::optional<double> mu, sensitivity, lipschitz, diameter;
  std::optional<std::uint64_t> batches;

  friend bool operator==(const ReleaseFields&, const ReleaseFields&) = default;
};

/// What must be known of a release before anything is computed from it.
enum class Wanted {
  all,
  all_but_noise,    ///< the noise multiplier is sought: 1 stands for it
  all_but_steps,    ///< the number of steps is sought: 1 stands for it
  all_but_batches,  ///< the number of batches of an epoch is sought
};

/// The release that the fields describe: one noise multiplier, rates and steps from batch sizes and epochs where they are given so.
/// Throws   InvalidArgument that lists all that is missing or contradicts itself, at the first key of them.
[[nodiscard]] PrivateRelease release_of(const ReleaseFields& fields, Wanted wanted = Wanted::all);

/// The fields that describe a release, as few as do.
[[nodiscard]] ReleaseFields fields_of(const PrivateRelease& release);

}  // namespace sfumato
