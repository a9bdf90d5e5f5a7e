#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/loss_scale.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/batches.hpp"
#include "sfumato/data/slots.hpp"
#include "sfumato/nn/network.hpp"
#include "sfumato/nn/noise_policy.hpp"
#include "sfumato/nn/path_kl_sum.hpp"
#include "sfumato/nn/record_store.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// How the learning rate goes down over the steps: not at all, on a line to zero, or on half a cosine to zero.
enum class RateSchedule { constant, linear, cosine };
/// "constant", "linear" or "cosine".
[[nodiscard]] std::string_view name(RateSchedule schedule);

/// How one group of models is trained: everything but the data.
struct Training {
  BatchScheme batches = BatchScheme::shuffled;
  std::size_t batch_size = 100;
  LossScale loss = LossScale::mean;  ///< gradients divided by the nominal batch size, or not
  double learning_rate = 0.1;
  std::uint64_t iterations = 1000;
  std::uint64_t seed =
      0;  ///< of the initial weights, the batches and the noise, shared by all worlds
  std::optional<std::uint64_t> init_seed = {}, noise_seed = {};  ///< where they are of another

  bool path_kl = false;               ///< see ModelRecord; for two worlds
  bool gradient_differences = false;  ///< see ModelRecord::squared_differences
  std::uint64_t log_every = 100;      ///< steps between logged losses; 0: none

  RateSchedule schedule = RateSchedule::constant;
  double momentum = 0.0;           ///< in [0, 1): steps go along sum_i momentum^i g_{t-i}
  std::uint64_t average_last = 0;  ///< the model is the mean of so many last iterates; 0: the last
  /// Audits of the mechanism: the record of this slot contributes the policy's gradient_canary() in every world that holds it.
  std::optional<std::uint32_t> canary_slot = {};
  bool gradient_canary = false;  ///< of a study: that slot is the differing record's

  // What a study says for all its private policies, and instead of iterations; nothing to a group. 0: not said.
  std::uint64_t epochs = 0;
  double clip = 0.0, noise_multiplier = 0.0;
  /// Where batches and noise come from if not from the seed: a secret, for models that are released.
  std::shared_ptr<const ReleaseKey> key = {};

  /// The learning rate of a step.
  [[nodiscard]] double rate_at(std::uint64_t step) const;
};

/// The slots of D with their records, and the worlds: what a group is trained on. Made once and shared
/// by the groups of a pair.
struct TrainingData {
  /// `worlds` are masks over the slots (data/slots.hpp).
  /// Throws   InvalidArgument if a change is of a slot that does not exist, or there is no world.
  TrainingData(const LabelledSet& set, const Slots& slots, std::vector<World> worlds);

  std::vector<World> worlds;
  std::vector<std::uint8_t> labels;  ///< of the store's records
  std::size_t slots;                 ///< the first of the store's records are those of the slots
  std::size_t classes;
  RecordStore store;

  struct Change {
    std::uint32_t slot;
    std::uint32_t world;
    bool empty;
    std::uint32_t record;  ///< of the store, unless empty
  };
  std::vector<Change> changes;              ///< ordered by slot, then world
  std::vector<std::uint32_t> first_change;  ///< of each slot, and the end

  /// Where a slot stands, from 0 to 255, when slots are ordered so that records that are zero at the
  /// same pixels are near each other; empty if the store is not sparse. Neighbours in a batch skip the
  /// zeros that they have in common.
  std::vector<std::uint8_t> places;
};

struct LoggedLoss {
  std::uint64_t step;
  double loss;  ///< mean over the rows of the step's batch that the model's world holds
};

/// What is known of one model of a group.
struct ModelRecord {
  std::size_t policy = 0, world = 0;
  std::optional<std::uint64_t> diverged_at;  ///< the step at which a loss was first seen not finite
  std::vector<LoggedLoss> losses;

  /// Steps between this world and the other, both from this model's weights: along D for KL(D || D'),
  /// along D' for the other direction.
  PathKlSum path_kl;

  /// Records, counted once for each step they were in, whose clipped gradient counted nothing because it was not finite.
  std::uint64_t zeroed_records = 0;

  /// With a canary: what the steps moved along it beyond what the other records made them, each coordinate weighed by gradient_canary(): the
  /// best score of an attacker who knows everything but the record (Spec §25.2).
  double canary_score = 0.0;

  /// Sum over steps of (g_i - g'_i)^2, for the design of noise; empty unless asked for.
  std::vector<double> squared_differences;
};

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

}  // namespace sfumato
