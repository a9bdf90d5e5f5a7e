#include "sfumato/storage/content_digest.hpp"

#include <fmt/format.h>

#include <charconv>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kWordDigits = 16;

}  // namespace

std::optional<ContentDigest> ContentDigest::parse(std::string_view hex) {
  ContentDigest digest;
  if (hex.size() != digest.words_.size() * kWordDigits) return std::nullopt;
  for (std::size_t i = 0; i < digest.words_.size(); ++i) {
    const char* begin = hex.data() + i * kWordDigits;
    std::uint64_t& word = digest.words_[digest.words_.size() - 1 - i];
    const auto [end, error] = std::from_chars(begin, begin + kWordDigits, word, 16);
    if (error != std::errc{} || end != begin + kWordDigits) return std::nullopt;
  }
  return digest;
}

ContentDigest ContentDigest::of(std::string_view item) {
  const auto digest = parse(sha256(item));
  if (!digest) throw InternalError("a SHA-256 that is no number of 64 digits");
  return *digest;
}

ContentDigest& ContentDigest::operator+=(const ContentDigest& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t with_carry = other.words_[i] + carry;
    const std::uint64_t wrapped = with_carry < carry ? 1 : 0;
    words_[i] += with_carry;
    carry = wrapped | (words_[i] < with_carry ? 1 : 0);
  }
  return *this;
}

ContentDigest& ContentDigest::operator-=(const ContentDigest& other) {
  // -x is (not x) + 1.
  ContentDigest negative;
  for (std::size_t i = 0; i < words_.size(); ++i) negative.words_[i] = ~other.words_[i];
  ContentDigest one;
  one.words_[0] = 1;
  return *this += (negative += one);
}

std::string ContentDigest::hex() const {
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", words_[3], words_[2], words_[1], words_[0]);
}

}  // namespace sfumato
