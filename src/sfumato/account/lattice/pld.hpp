#pragma once

#include <cstddef>

#include "sfumato/account/contour/contour.hpp"

namespace sfumato {

/// How finely the distribution of the total loss is divided.
struct PldGrid {
  std::size_t points = std::size_t{1} << 17;  ///< a power of two
};

/// delta(eps) = E_P (1 - e^{eps - T})_+ from discretised privacy-loss distributions: a second opinion on delta_of() that shares
/// the definition of the steps with it and nothing else.
///
/// The loss of every kind of step is put on one lattice twice, such that delta cannot become smaller (upper_lattice) or larger
/// (lower_lattice). The masses are tilted, a_i ~ w_i e^{s t_i}, with the s that the saddle point of the total suggests, so that the part
/// which decides about delta is not small beside the rounding errors of the Fourier transform; the transform of the total is the product
/// of powers. Added to the upper end, and subtracted from the lower: a bound of all rounding errors, of what is outside the window
/// (Chernoff), and of what the circular convolution folds into it. The answer is an enclosure for every grid; a finer one is narrower.
///
/// More than kMergedKinds kinds of steps are merged to either side (Spec §20.6).
///
/// Cost     about points log2(points) per kind of step, whatever the number of steps. The observer of the loss is asked between kinds.
/// Throws   InvalidArgument if `loss` is not valid, eps is NaN or the number of points is not a power of two of at least 64; Stopped.
[[nodiscard]] LogEnclosure pld_delta(const TotalLoss& loss, double eps, const PldGrid& grid = {});

}  // namespace sfumato
