#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/account/accountant/release.hpp"
#include "sfumato/account/accountant/release_fields.hpp"
#include "sfumato/account/steps/step_direction.hpp"

namespace sfumato {

struct TotalLoss;

/// Everything that the accountant asks of a mechanism of releases. A new one is a struct in release.hpp and one of these in its pair of files; step.hpp lists both.
///
///   kName                       in files and on command lines
///   kAddsNoise, kTakesSampler   whether it adds fresh noise in every step; whether sampling amplifies it by a proof of ours
///   require(M)                  throws InvalidArgument at the key of a number that is out of range
///   describe(M, release)        "Gaussian noise, noise multiplier 1.1, ..."
///   conditions()                beyond those of all noise and of the sampler, one sentence each (Spec §17.1 (5))
///   compose(M, setting, loss)   adds the pair that dominates all its steps to a loss
///   multiplier(M)               the noise that calibration changes; null where there is none
///   gdp_mu(M, setting)          of one step, for all epsilons; nothing where there is none
///   clt_variance(M, setting)    of all its steps by the central limit theorem; nothing where none is known
///   read(reader), write(M)      from and to the fields of a file
template <class M>
struct MechanismRules;

/// A release, and between which data sets it must not tell.
struct ReleaseSetting {
  const PrivateRelease& release;
  NeighbouringRelation relation;
  std::uint64_t group_size;
  StepDirection direction = StepDirection::remove;

  [[nodiscard]] double steps() const { return static_cast<double>(release.steps); }
  [[nodiscard]] double group() const { return static_cast<double>(group_size); }
  /// By how much contributions differ between neighbours, over the clip, where all records take part.
  [[nodiscard]] double reach() const {
    return group() * (relation == NeighbouringRelation::replace_one ? 2.0 : 1.0);
  }
};

/// Above it a group is bounded by one record that contributes as much as all of them (Spec §19.5).
inline constexpr std::uint64_t kLargestExactGroup = 64;

/// Throws   InvalidArgument at the key `noise_multiplier`.
void require_multiplier(double value);

/// 14062 -> "14,062"
[[nodiscard]] std::string grouped(std::uint64_t count);
/// "Poisson sampling at rate 0.01, 1,000 steps"
[[nodiscard]] std::string sampling_text(const PrivateRelease& release);
[[nodiscard]] std::string count_text(const PrivateRelease& release);

/// The facts about a release, read from fields; everything that is wrong with them is said at once.
class ReleaseReader {
 public:
  ReleaseReader(const ReleaseFields& of, Wanted what) : fields(of), wanted(what) {}

  const ReleaseFields& fields;
  const Wanted wanted;

  void missing(const char* key, const char* what);
  void superfluous(const char* key, const std::string& why);
  /// Throws   InvalidArgument if there was a complaint.
  void raise() const;

  /// The noise of a mechanism, relative to the clip.
  [[nodiscard]] double multiplier();
  /// Whether the fields speak of samples.
  [[nodiscard]] bool has_batches() const;
  /// The share of the records in a batch, from the rate or from two sizes.
  [[nodiscard]] std::optional<double> share();
  /// Steps as given, or of so many epochs, rounded up.
  [[nodiscard]] std::uint64_t steps(double share);
  /// How often shuffled training goes through the records.
  [[nodiscard]] std::uint64_t epochs();
  /// Of random allocation: batches of an epoch, and the epochs that were begun.
  [[nodiscard]] std::uint64_t batches();
  [[nodiscard]] std::uint64_t epochs_of_batches(std::uint64_t batches);
  [[nodiscard]] static std::uint64_t whole(double count);

 private:
  void add(const char* key, std::string text);
  std::string key_;
  std::vector<std::string> texts_;
};

}  // namespace sfumato
