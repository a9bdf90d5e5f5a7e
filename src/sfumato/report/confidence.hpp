#pragma once

#include <string>

namespace sfumato {

/// A confidence in (0, 1) as a fraction (`0.95`) and in percent (`95`, without the sign): rounded down,
/// with six digits and as many more as keep three of its distance from 1, no trailing zeros. So 1 - 1e-7
/// never reads 1.
[[nodiscard]] std::string format_confidence(double confidence);
[[nodiscard]] std::string format_confidence_percent(double confidence);

}  // namespace sfumato
