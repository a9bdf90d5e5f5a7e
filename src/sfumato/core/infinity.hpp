#pragma once

#include <limits>

namespace sfumato {

/// For sources; headers spell it, so that whoever includes them may have a kInf of their own.
inline constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace sfumato
