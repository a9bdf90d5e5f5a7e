#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato::lab {

/// Which trial: noise policy, adjacent pair and replica of the study, each from 0.
struct TrialKey {
  std::uint32_t policy = 0, pair = 0, replica = 0;
  friend auto operator<=>(const TrialKey&, const TrialKey&) = default;
};

/// One number that a trained model is judged by: "loss", "margin".
struct NamedScore {
  std::string name;
  double value = 0.0;
  friend bool operator==(const NamedScore&, const NamedScore&) = default;
};

/// Numbers of one kind, such as the loss of every training record.
struct NamedSeries {
  std::string name;
  std::vector<float> values;
  friend bool operator==(const NamedSeries&, const NamedSeries&) = default;
};

/// What is known of the model of one world.
struct WorldResult {
  std::optional<std::uint64_t> diverged_at;  ///< training step
  double training_loss = 0.0;                ///< mean over the records of D at the end
  double largest_loss = 0.0;                 ///< of a single record of D
  double training_accuracy = 0.0, test_accuracy = 0.0;
  double path_kl = 0.0;  ///< nats; NaN: not asked for
  std::uint64_t infinite_steps = 0;
  std::vector<NamedScore> scores;
  std::vector<NamedSeries> series;
  friend bool operator==(const WorldResult&, const WorldResult&) = default;
};

enum class TrialStatus { ok, diverged, failed };
[[nodiscard]] std::string_view name(TrialStatus status);

/// A finished trial: everything but the seconds is a function of (study, key).
struct TrialResult {
  TrialKey key;
  TrialStatus status = TrialStatus::ok;
  std::string message;  ///< why it failed
  std::uint64_t seed = 0;
  double seconds = 0.0;             ///< of the trial's share of its group
  std::vector<WorldResult> worlds;  ///< D, then D'
};

/// What a run added to a ledger.
struct RunReport {
  std::uint64_t trials = 0;    ///< of the study
  std::uint64_t before = 0;    ///< that the ledger held already
  std::uint64_t finished = 0;  ///< now
  std::uint64_t failed = 0;    ///< of those finished now
  bool stopped = false;        ///< by the observer or by a helper, before the end
};

}  // namespace sfumato::lab
