#pragma once

#include <cstddef>

namespace sfumato {

/// sum_j A_j (e^{i y L_j} - 1), with the digits of its terms where they are small (Spec §18.1).
struct PhaseSum {
  double re, im;
};

/// By half angles, -2 sin^2 + 2 i sin cos, eight terms at a time with their own compensated sums: 76 additions and multiplications per
/// term. The sine and the cosine are off by less than 2 roundings of themselves where the half angle is below pi/4, and of 1
/// elsewhere; half angles above 1e6 are left to the C library. The same bits on every machine.
[[nodiscard]] PhaseSum phase_sum(const double* weight, const double* loss, std::size_t count,
                                 double y);

}  // namespace sfumato
