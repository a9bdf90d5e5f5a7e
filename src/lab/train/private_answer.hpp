#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/study/measures.hpp"
#include "lab/study/spec/study.hpp"
#include "lab/train/private_question.hpp"
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/guarantee.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// What the release of the second moments of a layer's inputs came to.
struct InputMetricRelease {
  std::string layer;
  std::size_t inputs;
  double mu, noise_std, ridge, effective_dimension;
};

struct PrivateTrainAnswer {
  PrivateTrainQuestion question;
  Study study;
  Network network;
  NoisePolicy policy;       ///< with the noise multiplier that was used
  bool calibrated = false;  ///< the multiplier was found for target_epsilon
  std::size_t records = 0;  ///< N
  Accountant accountant;    ///< of everything, what was released before included
  Guarantee guarantee;      ///< of the mechanism; of this model only if its noise is a secret
  bool secret = false;      ///< batches and noise came from the operating system
  std::vector<InputMetricRelease> input_metrics = {};  ///< of the metric `input`, by layer

  std::vector<std::string> models_before = {};  ///< SHA-256 of what `after` stands for
  std::string delta_warning = {};               ///< empty: delta is small for so many records
  std::string booked = {};  ///< what the budget holds with this run; empty: not booked

  bool finished = false;
  double seconds = 0.0;
  bool diverged = false;                  ///< the parameters are not finite
  std::uint64_t zeroed_records = 0;       ///< of the private records: for experiments alone
  std::vector<float> parameters = {};     ///< of the network on the inputs as they are
  std::string model_sha256 = {};          ///< of the file that was written; empty: none
  std::optional<ModelSummary> test = {};  ///< none without test records or where it diverged
};

/// Finds the noise, trains one model of D, and says what it guarantees. A run that is interrupted keeps nothing: its key is not stored, and
/// a second run is a second release.
///
/// Throws   InvalidArgument as read_study() and load_sets(); if the study has not exactly one private policy, neither it nor the question
///          says how much noise, the sampler has no proof for these neighbours, or the target is spent already. StorageError where `out` cannot be written.
[[nodiscard]] PrivateTrainAnswer answer(const PrivateTrainQuestion& question, Observer& observer);

/// In brief: guarantee and accuracy. In full: the setting, and the privacy statement for a model card.
[[nodiscard]] Document document_of(const PrivateTrainAnswer& answer, Detail detail);

/// The privacy statement of the model: of exact noise if it was hardened.
[[nodiscard]] std::string statement_of(const PrivateTrainAnswer& answer);

}  // namespace sfumato::lab
