#include "sfumato/study/seed_notice.hpp"

#include <fmt/format.h>

namespace sfumato {

std::string seed_notice(std::uint64_t seed) {
  return fmt::format(
      "all noise comes from seed {}: whoever knows the study can draw it again and subtract it. "
      "These "
      "models are for measuring, not for release.",
      seed);
}

}  // namespace sfumato
