#pragma once

#include <string>

namespace sfumato {

/// 0:07, 12:34 or 1:02:03.
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace sfumato
