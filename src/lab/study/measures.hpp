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

/// Losses and accuracy of one model on the records of its world.
struct ModelSummary {
  double mean_loss = 0.0;
  double largest_loss = 0.0;  ///< of a single record
  double accuracy = 0.0;      ///< share of records whose class has the largest logit
  std::size_t records = 0;
};

/// Each model of the group on the filled slots of its own world; nothing for one whose losses are not
/// finite.
[[nodiscard]] std::vector<std::optional<ModelSummary>> summarise_training(TrialGroup& group,
                                                                          const TrainingData& data);

/// Each model on all records of a store.
/// Throws   InvalidArgument if there is not one label per record.
[[nodiscard]] std::vector<std::optional<ModelSummary>> summarise(
    TrialGroup& group, const RecordStore& store, std::span<const std::uint8_t> labels);

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
