#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace sfumato {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Philox4x32-10 [Salmon2011]: for each key a bijection of 128-bit counters onto 128-bit blocks that
/// passes the known statistical tests for randomness. Not a cipher: no secret rests on it.
[[nodiscard]] constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, PhiloxKey key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

/// Purposes of random numbers. The numbers enter the keys: never change or reuse one.
enum class Purpose : std::uint32_t {
  initialisation = 1,  ///< starting points of models and particles
  batches = 2,         ///< which records a step sees
  noise = 3,           ///< what a mechanism adds
  simulation = 4,      ///< Monte Carlo: paths, integrals
  bootstrap = 5,       ///< resampling of results
  selection = 6,       ///< which records make a training set, a pair or a canary
  trial = 7,           ///< seeds of the trials of a study
};

/// Names a stream: a seed, a purpose, and whatever else sets it apart (run, model, ...).
///
/// The parts are folded in order through Philox: starting from key = seed,
///   key <- first two words of philox(counter = (part low, part high, position, purpose), key)
/// with position 0, 1, ..., and at the end once more with part = number of parts and
/// position = 2^32 - 1. So keys of distinct tuples are as good as independent 64-bit numbers:
/// among n streams some two agree with probability below n^2 / 2^65 (3e-8 for a million).
class StreamKey {
 public:
  StreamKey(std::uint64_t seed, Purpose purpose, std::initializer_list<std::uint64_t> parts = {});

  [[nodiscard]] const PhiloxKey& words() const { return words_; }
  friend bool operator==(const StreamKey&, const StreamKey&) = default;

 private:
  PhiloxKey words_;
};

/// Random numbers by address: the value at (step, index) is a pure function of the key, so that any
/// part of a stream can be drawn anywhere, in any order, in pieces of any size, with the same bits.
///
/// Layout. Block b of a step is  w0 w1 w2 w3 = philox(counter = (b low, b high, step low, step
/// high), key); 64-bit numbers are low word first.
///   uniform double  index i: block i / 2, k = top 53 bits of (w0 w1) for even i, (w2 w3) for odd;
///                   max(k, 1/2) 2^-53, which is neither 0 nor 1
///   normal double   indices 2b, 2b + 1: box_muller(u, v) of the uniforms 2b and 2b + 1
///   normal float    indices 4b .. 4b + 3: float_box_muller of (w0, w1), then of (w2, w3):
///                   sqrt(-2 log u) times cos and sin of 2 pi v, in single precision, with
///                   u = (floor(w / 2) + 1/2) 2^-31 of the first word, v = w 2^-32 of the second
///   below           index i: block i, first (w0 w1), then (w2 w3); see below()
///
/// All are the same bits on every machine. Floats are single-precision arithmetic in a fixed order
/// (the vectors that make them fast and the scalar code for ends and other processors agree to the
/// last bit): they are off by less than 5e-7 (1 + |z|), and end at |z| = 6.66, where one in 2^32 is.
///
/// Values of different kinds at the same step share their blocks, hence are not independent: use
/// one kind per step, or one key per kind.
class Stream {
 public:
  explicit Stream(const StreamKey& key) : key_(key.words()) {}

  /// Value j of the span is the one at (step, first_index + j), for all fills.
  /// Throws   InvalidArgument if the indices pass 2^64.
  void fill_uniform(std::uint64_t step, std::uint64_t first_index, std::span<double> values) const;
  void fill_normal(std::uint64_t step, std::uint64_t first_index, std::span<double> values) const;
  void fill_normal(std::uint64_t step, std::uint64_t first_index, std::span<float> values) const;

  /// A uniform integer in [0, n), without bias: floor(x n / 2^64) for the first 64-bit x of the
  /// block that passes Lemire's test; should none pass, block <- philox(counter = block, key).
  /// Throws   InvalidArgument if n is 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t step, std::uint64_t index, std::uint64_t n) const;

 private:
  [[nodiscard]] PhiloxBlock block(std::uint64_t step, std::uint64_t number) const;

  PhiloxKey key_;
};

}  // namespace sfumato
