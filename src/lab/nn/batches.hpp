#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/random/release_bits.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {

/// How a step of training chooses its slots.
enum class BatchScheme {
  shuffled,          ///< fixed size, a fresh random order of all slots each epoch
  with_replacement,  ///< fixed size, each draw any slot; a slot may occur twice
  poisson,           ///< each slot by a coin of its own, probability batch_size / slots
  fixed_size,        ///< a uniform choice of batch_size different slots, fresh in every step
  full,              ///< all slots
  shuffled_all,      ///< as shuffled, and what is left at the end of an epoch is a short last batch
};

/// "shuffled", "with_replacement", "poisson", "fixed_size", "full", "shuffled_all".
[[nodiscard]] std::string_view name(BatchScheme scheme);

/// Steps after which each slot was seen about once: floor(slots / batch_size), at least 1; for shuffled_all ceil.
[[nodiscard]] std::uint64_t steps_per_epoch(BatchScheme scheme, std::size_t slots,
                                            std::size_t batch_size);

/// Which slots each step of training sees: a pure function of (scheme, slots, batch size, seed or key, step),
/// the same in every world.
///
/// shuffled          Epoch e takes floor(N / b) steps, which cut the order random_choice(N, N, stream, e)
///                   into pieces of b. The N mod b slots at its end are left out of that epoch, so that no
///                   slot is in a step twice, and each step is a uniform choice of b slots. With b = N
///                   every step is the full batch, in the order of the slots.
/// with_replacement  Draw i of a step is stream.below(step, i, N).
/// poisson           Each slot is in the step by a coin of its own, whose probability is b / N rounded down to a
///                   multiple of 2^-64, exactly: its byte decides, and where that is the first of b / N another 56
///                   bits. In the order of the slots. The size varies, 0 included; divide by the nominal b.
///                   Byte s of a step is byte s mod 16 of philox block s / 16, word by word, low byte first; the 56 bits
///                   are the top ones of (w0 w1) of block 2^63 + s. With b = N as for shuffled.
/// fixed_size        random_choice(N, b, stream, step).
/// full              All slots, in their order; b must be N.
/// shuffled_all      As shuffled, but epoch e takes ceil(N / b) steps: the N mod b slots at the end of its order are a step
///                   of their own, which nominal_size() says. With b >= N every step is the full batch.
///
/// With a key the same from its bits, drawn one after the other: a stream of the cipher for each step (for shuffled each epoch).
class BatchSampler {
 public:
  /// Throws   InvalidArgument if slots is 0 or above 2^32 - 1, or batch_size is 0 or, but for
  ///          with_replacement, above slots, or for full other than slots; for shuffled_all b may be any.
  BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size, std::uint64_t seed);
  /// For release: batches that nobody can guess. Streams 2 step + 1 of the key.
  BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size,
               std::shared_ptr<const ReleaseKey> key);

  /// The slots of a step, valid until the next call. Steps in any order give the same slots; in
  /// ascending order a shuffle is made once per epoch.
  [[nodiscard]] std::span<const std::uint32_t> batch(std::uint64_t step);

  [[nodiscard]] BatchScheme scheme() const { return scheme_; }
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::size_t batch_size() const { return batch_size_; }  ///< nominal
  /// What the sum of a step's gradients is divided by: b, but for shuffled_all the slots of the step.
  [[nodiscard]] std::size_t nominal_size(std::uint64_t step) const;
  [[nodiscard]] std::uint64_t steps_per_epoch() const {
    return lab::steps_per_epoch(scheme_, slots_, batch_size_);
  }

 private:
  BatchSampler(BatchScheme scheme, std::size_t slots, std::size_t batch_size, std::uint64_t seed,
               std::shared_ptr<const ReleaseKey> key);

  [[nodiscard]] std::span<const std::uint32_t> shuffled_batch(std::uint64_t step);
  [[nodiscard]] std::span<const std::uint32_t> poisson_batch(std::uint64_t step);
  /// The first `count` slots in a random order of its own.
  void choose(std::size_t count, std::uint64_t draw);
  void fill_bytes(std::uint64_t step, ReleaseBits* bits);

  BatchScheme scheme_;
  std::size_t slots_;
  std::size_t batch_size_;
  StreamKey stream_key_;
  Stream stream_;
  std::shared_ptr<const ReleaseKey> key_;  ///< null: by the seed
  std::vector<std::uint32_t> drawn_;    ///< shuffled: the order of epoch_; otherwise the last batch
  std::optional<std::uint64_t> epoch_;  ///< whose order drawn_ is
  std::vector<std::uint32_t> numbers_;  ///< 0 .. N - 1 between calls
  std::vector<std::size_t> exchanges_;  ///< what to undo in numbers_
  std::vector<std::uint8_t> bytes_;     ///< poisson: of every slot
};

}  // namespace sfumato::lab
