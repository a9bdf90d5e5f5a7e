#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/nn/clipping.hpp"
#include "lab/nn/exact_gradient.hpp"

namespace sfumato::lab {

struct ClippedSum {
  std::vector<double> sum;  ///< of the clipped gradients
  std::vector<double>
      norms;  ///< before clipping, of each record; +inf or NaN where the gradient is not finite
  std::size_t zeroed = 0;  ///< records whose gradient is not finite
};

/// The sum of the records' gradients, each clipped by itself (clipping.hpp), in double precision and with no margin: the reference of the
/// fast engine. `inverse_variances` make the metric of the norms; empty: Euclidean. A record without values adds nothing.
///
/// Throws   InvalidArgument as record_gradient().
[[nodiscard]] ClippedSum clipped_gradient(const Network& network,
                                          std::span<const double> parameters,
                                          std::span<const LabelledRecord> records,
                                          const Clipping& clipping,
                                          std::span<const float> inverse_variances = {});

/// The norm of clipping.hpp of the part of a gradient in one block.
[[nodiscard]] double block_norm(const ParameterBlock& block, std::span<const double> gradient,
                                std::span<const float> inverse_variances);

}  // namespace sfumato::lab
