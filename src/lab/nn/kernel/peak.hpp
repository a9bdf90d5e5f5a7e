#pragma once

#include <cstdint>

namespace sfumato::kernel {

/// Does `rounds` rounds of independent fused multiply-adds on vectors of the kernels' own width, as many
/// as the processor can have in flight, and returns how many floating-point operations that were (two
/// per element). Timing it gives the peak that a roofline is drawn at.
double multiply_add_rounds(std::uint64_t rounds);

}  // namespace sfumato::kernel
