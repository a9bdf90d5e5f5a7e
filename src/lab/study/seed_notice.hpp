#pragma once

#include <cstdint>
#include <string>

namespace sfumato::lab {

/// What everything that is made of a study's models says of them: noise that a seed repeats protects nobody.
[[nodiscard]] std::string seed_notice(std::uint64_t seed);

}  // namespace sfumato::lab
