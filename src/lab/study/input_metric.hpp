#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/slots.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/moments.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {

/// Coordinates in which the inputs of a layer are white, as far as their second moments were released (Spec §22.4, §23.4). x are the
/// inputs, or the patches under a convolution, over which x x^T is averaged:
///
///   S~ = sum x x^T + noise = U diag(w) U^T,   lam = floor s sqrt(2 d) / N,   root = U diag( (max(w, 0)/N + lam)^{-1/2} ) U^T
struct InputMetric {
  Eigen::MatrixXd root;  ///< inputs become root x; symmetric
  double noise_std;      ///< s, of the released moments' diagonal
  double ridge;          ///< lam
  double effective_dimension;
};

/// The stream of a key that the noise of the moments comes from: those of the steps are others.
inline constexpr std::uint64_t kMomentStream = std::uint64_t{1} << 62;

/// The metric of released moments of `count` records.
/// Throws   NumericalFailure if their eigenvalues are not found.
[[nodiscard]] InputMetric metric_of(const NoisyMoments& moments, double floor, double count);

/// Releases the second moments of inputs, a row each. Longer ones than the bound are scaled down to it, and one that is not finite counts as
/// zero; `budget.rows` is the public number of records; `floor` is that of the eigenvalues, in edges of the noise.
/// Throws   InvalidArgument for inputs without coordinates, and numbers that are not finite and positive; NumericalFailure; Stopped.
[[nodiscard]] InputMetric input_metric_of(RowMajor inputs, const MomentsBudget& budget,
                                          double floor, const ReleaseNoise& noise,
                                          Observer& observer);

/// What the releases of the policy's metric cost, of the first layer with parameters or of each of them, as mu of Gaussian privacy: together
/// its mu, since the squares add up (Spec §23.4).
///
///   mu_l^2 = mu^2 d_l / sum_k d_k,   d_l inputs of layer l:  then the floors relative to the mean eigenvalues, which are in proportion to
///   d_l^{3/2} / mu_l, have the least sum
[[nodiscard]] std::vector<double> moment_mus(const InputMomentsMetric& metric,
                                             const Network& network);

/// One world of a set: what its slots hold.
struct WorldSlots {
  const LabelledSet& set;
  const Slots& slots;
  const World& world;
};

/// Releases the second moments of what the first layer reads of a world's slots, at the cost that moment_mus() gives it. Everything else follows
/// from them.
/// Throws   InvalidArgument unless the first layer with parameters reads the inputs themselves, or if it is a convolution and the noise is to be
///          exact; Stopped.
[[nodiscard]] InputMetric release_input_metric(const Network& network, const WorldSlots& records,
                                               const InputMomentsMetric& metric,
                                               const ReleaseNoise& noise, Observer& observer);

/// The set with its inputs in the coordinates of the first layer's metric, as features for whitened_network() of layer_metrics.hpp; of these
/// records alone, if any are given.
/// Throws   InvalidArgument if they take more than 8 GiB; Stopped.
[[nodiscard]] LabelledSet whitened(const Network& network, const LabelledSet& set,
                                   const InputMetric& metric,
                                   std::span<const std::uint32_t> records = {},
                                   const Observer& observer = Observer());

}  // namespace sfumato::lab
