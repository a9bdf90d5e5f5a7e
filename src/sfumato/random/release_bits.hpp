#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sfumato {

/// The secret of the noise of one release: 256 bits for ChaCha20.
class ReleaseKey {
 public:
  /// From the operating system's generator; never printed, kept or used again.
  /// Throws   NumericalFailure if the system has none to give.
  [[nodiscard]] static ReleaseKey from_system();
  /// For experiments: whoever knows the seed can take the noise off again.
  [[nodiscard]] static ReleaseKey from_seed(std::uint64_t seed);

  /// False for a key that came from a seed: no guarantee holds for what is drawn with it.
  [[nodiscard]] bool secret() const { return secret_; }

 private:
  friend class ReleaseBits;
  ReleaseKey() = default;
  std::array<unsigned char, 32> bytes_{};
  bool secret_ = false;
};

__extension__ using Uint128 = unsigned __int128;

/// Bits that cannot be told from independent fair coins without the key: the ChaCha20 keystream. Streams with different numbers under one key
/// are independent.
class ReleaseBits {
 public:
  explicit ReleaseBits(const ReleaseKey& key, std::uint64_t stream = 0);
  ~ReleaseBits();
  ReleaseBits(ReleaseBits&&) noexcept;
  ReleaseBits& operator=(ReleaseBits&&) noexcept;

  [[nodiscard]] std::uint64_t word();
  /// A uniform integer in [0, n), without bias, by rejection.
  /// Throws   InvalidArgument if n is 0.
  [[nodiscard]] Uint128 below(Uint128 n);
  /// True with probability numerator / denominator, exactly; always if numerator >= denominator.
  [[nodiscard]] bool coin(Uint128 numerator, Uint128 denominator);

 private:
  void refill();

  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
  std::array<std::uint64_t, 512> words_{};
  std::size_t next_ = 0;
  std::uint64_t stream_ = 0;
  std::uint32_t block_ = 0;
};

/// Standard normals in double precision. Their low bits are those of floating-point arithmetic: an idealised Gaussian (Spec §24.1).
void fill_normal(ReleaseBits& bits, std::span<double> values);

}  // namespace sfumato
