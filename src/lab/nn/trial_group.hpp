#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lab/nn/model_record.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/record_store.hpp"
#include "lab/nn/training.hpp"
#include "lab/nn/training_data.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

/// Everything a group needs to go on: the rest is a function of the step.
struct GroupState {
  std::uint64_t step = 0;
  std::vector<std::vector<float>> parameters;                      ///< by model
  std::vector<std::vector<float>> velocities = {}, averages = {};  ///< by model; empty: not used
  std::vector<std::vector<double>> moments = {};  ///< by model, of released metrics; empty: none
  std::vector<ModelRecord> models = {};
};

/// The models {worlds} x {policies} of one seed, trained together: they share initial weights, batches
/// and normals, and one thread. Model number: policy x worlds + world.
///
/// The bits of a model depend on (network, data, training, its policy and its world), not on the
/// others in the group, nor on how the steps are cut into calls.
class TrialGroup {
 public:
  /// Throws   InvalidArgument if the network's input or classes do not fit the data (naming both), a
  ///          policy is not valid, there is none, the learning rate is not positive, the momentum is not in [0, 1), the path KL
  ///          is asked for with other than two worlds, or momentum is with noise that is no part of the gradient; and as BatchSampler.
  TrialGroup(const Network& network, std::shared_ptr<const TrainingData> data,
             std::vector<NoisePolicy> policies, const Training& training,
             const Where& where = Where::here());
  TrialGroup(TrialGroup&&) noexcept;
  TrialGroup& operator=(TrialGroup&&) noexcept;
  ~TrialGroup();

  [[nodiscard]] const std::vector<ModelRecord>& models() const;
  [[nodiscard]] std::uint64_t step() const;

  /// Trains until `step` or until the observer asks to stop, whichever is first.
  void train_until(std::uint64_t step, Observer& observer);

  [[nodiscard]] std::vector<float> parameters(std::size_t model) const;

  /// Cross-entropy and prediction of records of a store under every model: [model][record].
  struct Evaluation {
    std::vector<std::vector<float>> losses;
    std::vector<std::vector<std::uint8_t>> predicted;
  };
  [[nodiscard]] Evaluation evaluate(const RecordStore& store, std::span<const std::uint8_t> labels);

  [[nodiscard]] GroupState state() const;
  /// Throws   InvalidArgument if the state is of another group (models or parameters).
  void restore(GroupState state);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sfumato::lab
