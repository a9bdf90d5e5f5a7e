#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {

/// How a step of training chooses its slots.
enum class BatchScheme {
  shuffled,          ///< fixed size, a fresh random order of all slots each epoch
  with_replacement,  ///< fixed size, each draw any slot; a slot may occur twice
  poisson,           ///< each slot by a coin of its own, probability batch_size / slots
};

/// "shuffled", "with_replacement", "poisson".
[[nodiscard]] std::string_view name(BatchScheme scheme);

/// Which slots each step of training sees: a pure function of (scheme, slots, batch size, seed, step),
/// the same in every world.
///
/// shuffled          Epoch e takes floor(N / b) steps, which cut the order random_choice(N, N, stream, e)
///                   into pieces of b. The N mod b slots at its end are left out of that epoch, so that no
///                   slot is in a step twice, and each step is a uniform choice of b slots. With b = N
///                   every step is the full batch, in the order of the slots.
/// with_replacement  Draw i of a step is stream.below(step, i, N).
/// poisson           Each slot is in the step with probability q = b / N, independently. Drawn as its size,
///                   Binomial(N, q), and then that many different slots as random_choice() does: the same
///                   law (its probabilities are right to 1e-12) in a time that grows with b and not with N.
///                   The size varies, 0 included; divide by the nominal b. The uniforms of the sizes have
///                   a stream of their own, index 0 of each step. With b = N as for shuffled.
class BatchSampler {
 public:
  /// Throws   InvalidArgument if slots is 0 or above 2^32 - 1, or batch_size is 0 or, but for
  ///          with_replacement, above slots.
  BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size, std::uint64_t seed);

  /// The slots of a step, valid until the next call. Steps in any order give the same slots; in
  /// ascending order a shuffle is made once per epoch.
  [[nodiscard]] std::span<const std::uint32_t> batch(std::uint64_t step);

  [[nodiscard]] BatchScheme scheme() const { return scheme_; }
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::size_t batch_size() const { return batch_size_; }  ///< nominal
  /// Steps after which each slot was seen about once: floor(N / b) for all schemes, at least 1.
  [[nodiscard]] std::uint64_t steps_per_epoch() const;

 private:
  [[nodiscard]] std::span<const std::uint32_t> shuffled_batch(std::uint64_t step);
  [[nodiscard]] std::span<const std::uint32_t> poisson_batch(std::uint64_t step);

  BatchScheme scheme_;
  std::size_t slots_;
  std::size_t batch_size_;
  Stream stream_;
  Stream size_stream_;                  ///< poisson
  std::vector<std::uint32_t> drawn_;    ///< shuffled: the order of epoch_; otherwise the last batch
  std::optional<std::uint64_t> epoch_;  ///< whose order drawn_ is
  std::vector<std::uint32_t> numbers_;  ///< poisson: 0 .. N - 1 between calls
  std::vector<std::size_t> exchanges_;  ///< poisson: what to undo in numbers_
  std::vector<double> size_cumulative_;  ///< poisson: P(size <= k)
};

}  // namespace sfumato
