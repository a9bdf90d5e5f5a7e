#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sfumato {

/// A running digest of a set: the sum of the SHA-256 of its items, modulo 2^256. The order in which items
/// came does not matter, and one more item costs one addition, whatever the set holds.
///
/// It finds accidents and edits by hand: an item that is missing, that was added, or that is another leaves
/// the same sum with probability 2^-256. It is no signature: who can write the file can also write the sum
/// that belongs to what he wrote.
class ContentDigest {
 public:
  /// `hex` is what hex() gave, or the SHA-256 of one item. Nothing if it is neither.
  [[nodiscard]] static std::optional<ContentDigest> parse(std::string_view hex);
  /// The digest of a set of one.
  [[nodiscard]] static ContentDigest of(std::string_view item);

  ContentDigest() = default;  ///< of the empty set
  ContentDigest& operator+=(const ContentDigest& other);
  ContentDigest& operator-=(const ContentDigest& other);
  friend bool operator==(const ContentDigest&, const ContentDigest&) = default;

  /// 64 digits.
  [[nodiscard]] std::string hex() const;

 private:
  std::array<std::uint64_t, 4> words_{};  ///< least significant first
};

}  // namespace sfumato
