#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lab/study/convex_trials.hpp"
#include "lab/study/network_trials.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::lab {

/// Everything a study's trials are made of, and how to run them. A trial is a pure function of (study,
/// policy, pair, replica); the trials of all policies of one (pair, replica) are trained together, as
/// group number  pair replicas + replica.  Threads share a runner.
class TrialRunner {
 public:
  /// Loads the data. Throws as the functions of study/study_data.hpp.
  explicit TrialRunner(Study study, const DataPlaces& places = data_places());

  [[nodiscard]] const Study& study() const { return study_; }
  /// The trials of a network; none if the model is another.
  [[nodiscard]] const NetworkTrials* network_trials() const {
    return std::get_if<NetworkTrials>(&trials_);
  }
  /// Of a ledger that this library adds the trials to.
  [[nodiscard]] LedgerIdentity identity() const;

  [[nodiscard]] std::size_t groups() const;
  [[nodiscard]] std::vector<TrialKey> keys(std::size_t group) const;

  /// Trains a group and scores its models; nothing if the observer asked to stop. A failure of the
  /// training is a result: trials of status `failed` with the message.
  /// Scores: NetworkTrials::train(), ConvexTrials::train().
  [[nodiscard]] std::vector<TrialResult> run(std::size_t group, Observer& observer) const;

 private:
  void train(std::uint64_t draw, const TrialSeeds& seeds, const std::vector<std::size_t>& worlds,
             std::vector<TrialResult>& results, Observer& observer) const;

  Study study_;
  std::variant<std::monostate, NetworkTrials, ConvexTrials> trials_;
};

}  // namespace sfumato::lab
