#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

#include "lab/nn/exact_gradient.hpp"
#include "sfumato/math/lanczos.hpp"
#include "sfumato/sde/minibatch.hpp"

namespace sfumato::lab {

struct MinibatchSpectrumOptions {
  /// Pairs wanted, and how hard Lanczos tries where it is needed.
  LanczosOptions leading = {.count = 5, .most_steps = 100, .tolerance = 1e-8};
  /// Up to this many records or parameters (the fewer) the eigenvalues come from a dense matrix of
  /// that size and are exact to rounding.
  Eigen::Index dense_up_to = 500;
  /// Bytes of per-record gradients to keep; beyond, each product with the covariance computes them
  /// anew.
  std::size_t memory = std::size_t{1} << 30;
};

/// Cov(ghat) of the minibatch gradient of a network at `parameters` (Spec §10), without the d x d matrix.
struct MinibatchSpectrum {
  Eigen::VectorXd diagonal;
  double trace;
  /// Largest first; fewer than wanted where the covariance has no more directions (it has at most
  /// N - 1). All converged and with residuals of rounding where the matrix was dense.
  EigenPairs leading;
};

/// Diagonal and trace are exact. An empty slot counts as a record with gradient zero. The matrix itself,
/// for few parameters: minibatch_covariance(record_gradients(...), batches).
///
/// Throws   InvalidArgument as exact_gradient.hpp, lanczos.hpp and minibatch_factor do;
///          NumericalFailure if a gradient is not finite.
[[nodiscard]] MinibatchSpectrum minibatch_spectrum(const Network& network,
                                                   std::span<const double> parameters,
                                                   std::span<const LabelledRecord> records,
                                                   const MinibatchOptions& batches,
                                                   const MinibatchSpectrumOptions& options = {});

}  // namespace sfumato::lab
