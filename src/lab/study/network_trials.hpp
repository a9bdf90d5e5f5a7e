#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/policy_trials.hpp"
#include "lab/study/study_data.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/lab/ledger/trial.hpp"

namespace sfumato::lab {

/// The seeds of one group: those of its initial weights, batches and noise.
struct TrialSeeds {
  std::uint64_t init, batches, noise;

  /// One for all.
  [[nodiscard]] static TrialSeeds of(std::uint64_t seed) { return {seed, seed, seed}; }
};

/// Trials of networks: groups {worlds} x {policies} of the training engine.
class NetworkTrials {
 public:
  /// Loads the data. Throws as the functions of study/study_data.hpp, and InvalidArgument for training that no trial could do.
  NetworkTrials(const Study& study, const DataPlaces& places);

  [[nodiscard]] const Network& network() const { return network_; }
  /// SHA-256 of the data, by name.
  [[nodiscard]] std::map<std::string, std::string> checksums() const;

  /// Trains the models of all policies in these worlds (0: D, 1: D'), which share the seeds, and fills in
  /// results[policy].worlds. Leaves them as they are if the observer asks to stop.
  ///
  /// Scores, larger where the differing record is more likely in D:
  ///   loss           minus the cross-entropy of the differing record (as D labels it)
  ///   confidence     p, its softmax probability
  ///   margin         log(p / (1 - p)): the logit of LiRA
  ///   gradient_norm  minus the norm of its gradient
  ///   projection     how far the weights moved from their start against its gradient there; with gradient_canary that of the canary
  /// and where the study asks for flatness and couples the worlds, numbers that describe the model
  /// (Spec §10): hessian_trace, hessian_largest, mixed_norm, gradient_difference, covariance_trace,
  /// covariance_largest. Series:
  ///   record_losses          of every record of D at the end, if the study keeps them
  ///   batch_losses           the logged ones, every train.log_every steps
  ///   infinite_coordinates   the first parameters that made the path KL infinite
  void train(std::uint64_t draw, const TrialSeeds& seeds, const std::vector<std::size_t>& worlds,
             std::vector<TrialResult>& results, Observer& observer) const;

  /// Trains one model of each policy in a world made by coins of this seed (coin_slots()), and fills in
  /// results[policy].worlds.front(). Series, over the canaries or all slots of D:
  ///   coin_losses   cross-entropy of the record that D has there
  ///   coin_scores   with gradient_canary: what the steps moved along each canary (ModelRecord::canary_scores)
  ///   included      1 where the model was trained on it
  void train_by_coins(std::uint64_t seed, std::vector<TrialResult>& results,
                      Observer& observer) const;

  /// A group that trains as train() does, to measure how long one takes.
  [[nodiscard]] TrialGroup make_group(std::uint64_t seed) const;

 private:
  struct Pair {
    SlotPair slots;
    std::shared_ptr<const TrainingData> both;               ///< together
    std::vector<std::shared_ptr<const TrainingData>> each;  ///< not together: D alone, D' alone
    std::vector<Slots> each_slots;                          ///< theirs
    std::optional<RecordStore> differing;
    std::uint8_t label = 0;  ///< of the differing record in D
  };
  [[nodiscard]] std::shared_ptr<const Pair> pair(std::uint64_t draw) const;
  void require_training() const;
  /// The study's training with gradient canaries, if it has any, in the slots that other worlds change.
  [[nodiscard]] Training training_with(const World& other) const;
  /// Trains the group to its end and summarises its models; nothing if the observer asked to stop.
  [[nodiscard]] std::vector<WorldResult> summaries(TrialGroup& group,
                                                   const std::shared_ptr<const TrainingData>& data,
                                                   const Slots& slots, const Training& training,
                                                   Observer& observer) const;

  Study study_;
  StudySets sets_;
  Network network_;
  std::vector<NoisePolicy> policies_;
  std::optional<RecordStore> test_;
  SlotPair coins_;  ///< of a study whose worlds are made by coins
  PairCache<Pair> pairs_;
};

}  // namespace sfumato::lab
