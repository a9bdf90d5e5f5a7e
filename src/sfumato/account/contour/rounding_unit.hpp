#pragma once

#include <complex>
#include <numbers>

namespace sfumato {

using Complex = std::complex<double>;

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kUnit =
    0x1p-53;  ///< half the distance from 1 to the next number: what one operation may be off by

}  // namespace sfumato
