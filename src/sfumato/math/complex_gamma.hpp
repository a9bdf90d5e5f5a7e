#pragma once

#include <complex>

namespace sfumato {

/// log Gamma(z) for Re z > 0, the branch that is real on the axis. The real part and the imaginary part are each off by at most
/// 2^-52 (1 + its size) and 1e-18 |z| log(2 + |z|).
[[nodiscard]] std::complex<double> log_gamma(std::complex<double> z);

}  // namespace sfumato
