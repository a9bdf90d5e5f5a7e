#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/nn/batches.hpp"
#include "sfumato/core/loss_scale.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {

/// How the learning rate goes down over the steps: not at all, on a line to zero, or on half a cosine to zero.
enum class RateSchedule { constant, linear, cosine };
/// "constant", "linear" or "cosine".
[[nodiscard]] std::string_view name(RateSchedule schedule);

/// How one group of models is trained: everything but the data.
struct Training {
  BatchScheme batches = BatchScheme::shuffled;
  std::size_t batch_size = 100;
  LossScale loss = LossScale::mean;  ///< gradients divided by the nominal batch size, or not
  double learning_rate = 0.1;
  std::uint64_t iterations = 1000;
  std::uint64_t seed =
      0;  ///< of the initial weights, the batches and the noise, shared by all worlds
  std::optional<std::uint64_t> init_seed = {}, noise_seed = {};  ///< where they are of another

  bool path_kl = false;               ///< see ModelRecord; for two worlds
  bool gradient_differences = false;  ///< see ModelRecord::squared_differences
  std::uint64_t log_every = 100;      ///< steps between logged losses; 0: none

  RateSchedule schedule = RateSchedule::constant;
  double momentum = 0.0;           ///< in [0, 1): steps go along sum_i momentum^i g_{t-i}
  std::uint64_t average_last = 0;  ///< the model is the mean of so many last iterates; 0: the last
  /// Audits of the mechanism: the records of these slots contribute the policy's gradient_canary(), one by one, in every world that holds them.
  std::vector<std::uint32_t> canary_slots = {};
  bool gradient_canary = false;  ///< of a study: these slots are those of the differing records

  // What a study says for all its private policies, and instead of iterations; nothing to a group. 0: not said.
  std::uint64_t epochs = 0;
  double clip = 0.0, noise_multiplier = 0.0;
  /// Where batches and noise come from if not from the seed: a secret, for models that are released.
  std::shared_ptr<const ReleaseKey> key = {};
  /// Exact noise on integer sums, under the key (Spec §24.2); else in floating point.
  bool hardened = false;

  /// The learning rate of a step.
  [[nodiscard]] double rate_at(std::uint64_t step) const;
};

}  // namespace sfumato::lab
