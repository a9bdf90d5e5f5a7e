#pragma once

#include <cmath>

namespace sfumato {

/// c(s) = s log s - (1 + s) log(1 + s): log delta(eps) <= c(s) + K(s) - s eps for every s >= 0 (Spec §4.3, §18.4).
[[nodiscard]] inline double chernoff_term(double s) {
  return s == 0.0 ? 0.0 : s * std::log(s) - (1.0 + s) * std::log1p(s);
}

}  // namespace sfumato
