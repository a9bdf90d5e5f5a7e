#pragma once

#include <cstddef>
#include <cstdint>

namespace sfumato {

/// The records of the ZIP format that reader and writer share (APPNOTE.TXT 4.3; integers are little
/// endian, sizes are those of the fixed part).
inline constexpr std::uint32_t kZipLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kZipCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kZipEndSignature = 0x06054b50;
inline constexpr std::size_t kZipLocalSize = 30;
inline constexpr std::size_t kZipCentralSize = 46;
inline constexpr std::size_t kZipEndSize = 22;
inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflated = 8;

}  // namespace sfumato
