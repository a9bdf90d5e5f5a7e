#include "sfumato/random/release_bits.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstring>
#include <new>

#include "sfumato/core/error.hpp"
#include "sfumato/random/box_muller.hpp"

namespace sfumato {

ReleaseKey ReleaseKey::from_system() {
  ReleaseKey key;
  key.secret_ = true;
  if (RAND_priv_bytes(key.bytes_.data(), static_cast<int>(key.bytes_.size())) != 1) {
    throw NumericalFailure("the operating system gives no random bytes",
                           "Noise for release needs them: check the system's generator");
  }
  return key;
}

ReleaseKey ReleaseKey::from_seed(std::uint64_t seed) {
  // The seed as it is: ChaCha20 needs no spread-out keys, and nobody takes this one for a secret.
  ReleaseKey key;
  for (std::size_t i = 0; i < sizeof seed; ++i) {
    key.bytes_[i] = static_cast<unsigned char>(seed >> (8 * i));
  }
  return key;
}

struct ReleaseBits::Cipher {
  Cipher() : context(EVP_CIPHER_CTX_new()) {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~Cipher() {
    EVP_CIPHER_CTX_free(context);
    OPENSSL_cleanse(key.data(), key.size());
  }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  EVP_CIPHER_CTX* context;
  std::array<unsigned char, 32> key{};
};

ReleaseBits::ReleaseBits(const ReleaseKey& key, std::uint64_t stream)
    : cipher_(std::make_unique<Cipher>()), next_(words_.size()), stream_(stream) {
  cipher_->key = key.bytes_;
}
ReleaseBits::~ReleaseBits() { OPENSSL_cleanse(words_.data(), sizeof words_); }
ReleaseBits::ReleaseBits(ReleaseBits&&) noexcept = default;
ReleaseBits& ReleaseBits::operator=(ReleaseBits&&) noexcept = default;

void ReleaseBits::refill() {
  // 16 bytes: the block counter of the cipher, 0, then the nonce, which is (block, stream): each nonce is used for one buffer.
  std::array<unsigned char, 16> counter_and_nonce{};
  for (std::size_t i = 0; i < 4; ++i) {
    counter_and_nonce[4 + i] = static_cast<unsigned char>(block_ >> (8 * i));
  }
  for (std::size_t i = 0; i < 8; ++i) {
    counter_and_nonce[8 + i] = static_cast<unsigned char>(stream_ >> (8 * i));
  }
  if (++block_ == 0) {
    throw NumericalFailure("a stream of random bits is used up after 2^44 bytes",
                           "Make several releases of this one");
  }
  const std::array<unsigned char, sizeof words_> zeros{};
  int written = 0;
  if (EVP_EncryptInit_ex(cipher_->context, EVP_chacha20(), nullptr, cipher_->key.data(),
                         counter_and_nonce.data()) != 1 ||
      EVP_EncryptUpdate(cipher_->context, reinterpret_cast<unsigned char*>(words_.data()), &written,
                        zeros.data(), static_cast<int>(zeros.size())) != 1) {
    throw NumericalFailure("OpenSSL refuses ChaCha20",
                           "Check whether this system forbids it (FIPS mode)");
  }
  next_ = 0;
}

std::uint64_t ReleaseBits::word() {
  if (next_ == words_.size()) refill();
  return words_[next_++];
}

Uint128 ReleaseBits::below(Uint128 n) {
  if (n == 0) throw InvalidArgument("n is 0", "Pass how many integers there are to choose from");
  constexpr Uint128 kOneWord = Uint128{1} << 64;
  if (n < kOneWord) {  // Lemire's way: one multiplication, rejecting what would favour some numbers
    const auto small = static_cast<std::uint64_t>(n);
    for (;;) {
      const Uint128 product = Uint128{word()} * small;
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= small || low >= (0 - small) % small) return product >> 64;
    }
  }
  for (;;) {
    const Uint128 high = word();
    const Uint128 drawn = (high << 64) | word();
    // 2^128 mod n is below n: where it need not be known, a division is saved.
    if (drawn >= n || drawn >= (0 - n) % n) return drawn % n;
  }
}

bool ReleaseBits::coin(Uint128 numerator, Uint128 denominator) {
  return numerator >= denominator || below(denominator) < numerator;
}

void fill_normal(ReleaseBits& bits, std::span<double> values) {
  constexpr double kUnit = 0x1p-53;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    // Neither 0 nor 1: the centres of 2^53 intervals.
    const double u = (static_cast<double>(bits.word() >> 12) + 0.5) * 2.0 * kUnit;
    const double v = static_cast<double>(bits.word() >> 11) * kUnit;
    const NormalPair pair = box_muller(u, v);
    values[i] = pair.first;
    if (i + 1 < values.size()) values[i + 1] = pair.second;
  }
}

}  // namespace sfumato
