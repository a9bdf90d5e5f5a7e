#include "lab/study/seed_notice.hpp"

#include <fmt/format.h>

namespace sfumato::lab {

std::string seed_notice(std::uint64_t seed) {
  return fmt::format(
      "all noise comes from seed {}: anyone who knows the study can regenerate and subtract it. "
      "These models are for measurements, not for release.",
      seed);
}

}  // namespace sfumato::lab
