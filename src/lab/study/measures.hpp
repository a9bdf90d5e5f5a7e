#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/nn/exact_gradient.hpp"
#include "lab/nn/flatness.hpp"
#include "lab/nn/trial_group.hpp"

namespace sfumato::lab {

/// The records of one world in double precision, one for each slot; an empty slot is a record without
/// values. Owns what its records point to.
class WorldRecords {
 public:
  WorldRecords(const TrainingData& data, std::size_t world);

  [[nodiscard]] const std::vector<LabelledRecord>& records() const { return records_; }

 private:
  std::vector<double> values_;
  std::vector<LabelledRecord> records_;
};

/// Curvature of the loss on the model's own world (Spec §10), as training scales the loss: mean over N,
/// or sum.
struct HessianMeasure {
  Claimed<MonteCarloMean> trace;
  Claimed<SpectralEstimate> largest_eigenvalue;
};
[[nodiscard]] HessianMeasure measure_hessian(const Network& network,
                                             std::span<const float> parameters,
                                             const WorldRecords& world, LossScale scale,
                                             std::uint64_t seed);

/// How far the differing record moves the gradient of the sum of losses (Spec §10). Where D' holds another
/// record, with the bound that the mixed derivative on the segment between them gives.
struct FlatnessMeasure {
  double gradient_difference;  ///< |grad f(D) - grad f(D')|, exact
  double mixed_norm;           ///< largest |J|_2 found: on the segment, or at the record
  std::optional<Claimed<RecordSensitivity>> segment;
};
/// Throws   InvalidArgument unless the worlds differ in one slot that D fills.
[[nodiscard]] FlatnessMeasure measure_flatness(const Network& network,
                                               std::span<const float> parameters,
                                               const WorldRecords& d, const WorldRecords& d_prime);

/// Exact covariance of the minibatch gradient at the model (Spec §10).
struct CovarianceMeasure {
  double trace;
  double largest_eigenvalue;
  double residual;  ///< of the eigenvalue; 0 where the matrix was small enough to be exact
};
/// Nothing for Poisson batches, for which Spec §10 has no formula.
[[nodiscard]] std::optional<CovarianceMeasure> measure_covariance(const Network& network,
                                                                  std::span<const float> parameters,
                                                                  const WorldRecords& world,
                                                                  const Training& training);

}  // namespace sfumato::lab
