#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/nn/trial_group.hpp"
#include "sfumato/study/material.hpp"
#include "sfumato/study/model_summary.hpp"
#include "sfumato/study/spec/study.hpp"

namespace sfumato::cli {

struct TrainOptions {
  std::string file;
  std::vector<std::string> settings;
  std::string out;
  bool resume = false;
  bool force = false;  ///< replace the results of another run
  bool keys = false;
  std::vector<std::string> measures;  ///< hessian, flatness, covariance
  bool json = false;
};

/// Everything that is known before the first step.
struct TrainInput {
  Study study;
  StudySets sets;
  SlotPair pair;
  std::shared_ptr<const TrainingData> data;
  Network network;
  std::vector<NoisePolicy> policies;
  std::string identity;  ///< canonical text and checksums of what was read
};

/// Throws   InvalidArgument as the functions of study/material.hpp.
[[nodiscard]] TrainInput read_input(const TrainOptions& options);

/// What training gave.
struct TrainResult {
  TrialGroup group;
  double seconds = 0.0;          ///< of all steps, those before a resume included
  std::uint64_t resumed_at = 0;  ///< 0: from the start
  std::vector<std::string> notes = {};
  std::vector<std::optional<ModelSummary>> training = {}, test = {};  ///< by model; once finished
};

/// Where a run leaves its state: in the output directory, or beside the caller if there is none.
[[nodiscard]] std::string checkpoint_path(const TrainOptions& options);

/// Trains to the end, or until the observer asks to stop. Saves its state then, and every half minute
/// where there is an output directory.
///
/// Throws   InvalidArgument if there is no checkpoint to resume from, it is of another study (with the
///          differences), or there is one and nobody asked to resume.
[[nodiscard]] TrainResult train(const TrainInput& input, const TrainOptions& options,
                                Observer& observer);

/// "D" or "D'".
[[nodiscard]] std::string world_name(std::size_t world);
/// What the files of a model are called: "isotropic.d_prime".
[[nodiscard]] std::string file_stem(const NoisePolicy& policy, std::size_t world);
[[nodiscard]] std::vector<std::string> parameter_names(const Network& network,
                                                       const std::vector<std::size_t>& indices);

}  // namespace sfumato::cli
