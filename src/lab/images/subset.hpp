#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sfumato/random/stream.hpp"

namespace sfumato::lab {

/// The first `count` of the numbers 0 .. population - 1 in random order: every ordered choice without
/// repetition is equally likely. Fisher-Yates from the front,
///   exchange entry i with entry i + stream.below(step, i, population - i),  i = 0, 1, ...
/// so a smaller `count` of the same stream and step gives the beginning of a larger one.
///
/// Throws   InvalidArgument if count > population or population > 2^32 - 1.
[[nodiscard]] std::vector<std::uint32_t> random_choice(std::size_t population, std::size_t count,
                                                       const Stream& stream, std::uint64_t step);

}  // namespace sfumato::lab
