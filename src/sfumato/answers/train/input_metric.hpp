#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/data/slots.hpp"
#include "sfumato/nn/network.hpp"
#include "sfumato/privacy/accounting/release.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// Coordinates in which the inputs of the first layer are white, as far as their second moments were released (Spec §22.4, §23.4):
///
///   S~ = sum x x^T + noise = U diag(w) U^T,   lam = floor s sqrt(2 d) / N,   root = U diag( (max(w, 0)/N + lam)^{-1/2} ) U^T
struct InputMetric {
  Eigen::MatrixXd root;  ///< inputs become root x; symmetric
  double noise_std;      ///< s, of the released moments' diagonal
  double ridge;          ///< lam
  double effective_dimension;
};

struct InputMetricOptions {
  double mu;     ///< what the release may cost
  double bound;  ///< longer inputs are scaled down to it
  double floor;  ///< of the eigenvalues, in edges of the noise
};

/// Releases the second moments of the slots' inputs, with noise of these bits. Everything else follows from them.
/// Throws   InvalidArgument unless the first layer with parameters is linear and reads the inputs themselves; Stopped.
[[nodiscard]] InputMetric release_input_metric(const Network& network, const LabelledSet& set,
                                               const Slots& slots,
                                               const InputMetricOptions& options,
                                               NeighbouringRelation relation, ReleaseBits& bits,
                                               Observer& observer);

/// The set with its inputs in the coordinates of the metric, as features.
[[nodiscard]] LabelledSet whitened(const LabelledSet& set, const InputMetric& metric);

/// Parameters of a network on whitened inputs as those of the same network on the inputs themselves.
[[nodiscard]] std::vector<float> unwhitened(const Network& network, std::vector<float> parameters,
                                            const InputMetric& metric);

}  // namespace sfumato
