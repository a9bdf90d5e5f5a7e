#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/material.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato {

/// Everything a study's trials are made of, and how to run them. A trial is a pure function of (study,
/// policy, pair, replica); the trials of all policies of one (pair, replica) are trained together, as
/// group number  pair replicas + replica.  Threads share a runner.
class TrialRunner {
 public:
  /// Loads the data. Throws as the functions of study/material.hpp.
  explicit TrialRunner(Study study, const DataPlaces& places = data_places());

  [[nodiscard]] const Study& study() const { return study_; }
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] LedgerIdentity identity(const std::string& version) const;

  [[nodiscard]] std::size_t groups() const;
  [[nodiscard]] std::vector<TrialKey> keys(std::size_t group) const;

  /// Trains a group and scores its models; nothing if the observer asked to stop. A failure of the
  /// training is a result: trials of status `failed` with the message.
  ///
  /// Scores of each world's model, larger where the differing record is more likely in D:
  ///   loss           minus the cross-entropy of the differing record (as D labels it)
  ///   margin         log(p / (1 - p)), p its softmax probability: the logit of LiRA
  ///   gradient_norm  minus the norm of its gradient
  ///   projection     how far the weights moved from their start against its gradient there
  /// and where the study asks for flatness and couples the worlds, numbers that describe the model
  /// (Spec §10): hessian_trace, hessian_largest, mixed_norm, gradient_difference, covariance_trace,
  /// covariance_largest.
  /// Series of each world's model:
  ///   record_losses   of every record of D at the end, if the study keeps them
  ///   batch_losses    the logged ones, every train.log_every steps
  ///   first_infinite  of the odometer: step, number of parameters, the first of them
  [[nodiscard]] std::vector<TrialResult> run(std::size_t group, Observer& observer) const;

  /// A group that trains as run() does, to measure how long one takes.
  [[nodiscard]] TrialGroup make_group(std::uint64_t seed) const;

 private:
  struct Pair {
    SlotPair slots;
    std::shared_ptr<const TrainingData> both;               ///< coupled
    std::vector<std::shared_ptr<const TrainingData>> each;  ///< not coupled: D alone, D' alone
    std::optional<RecordStore> differing;
    std::uint8_t label = 0;  ///< of the differing record in D
  };
  [[nodiscard]] std::shared_ptr<const Pair> pair(std::uint64_t draw) const;
  void train(const Pair& pair, std::uint64_t seed, std::vector<std::size_t> worlds,
             std::vector<TrialResult>& results, Observer& observer) const;

  Study study_;
  StudySets sets_;
  Network network_;
  std::vector<NoisePolicy> policies_;
  std::optional<RecordStore> test_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::weak_ptr<const Pair>> pairs_;  ///< in use somewhere
};

}  // namespace sfumato
