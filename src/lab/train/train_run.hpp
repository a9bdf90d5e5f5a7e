#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/nn/trial_group.hpp"
#include "lab/study/measures.hpp"
#include "lab/train/train_question.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

/// What training gave.
struct TrainRun {
  TrialGroup group;
  double seconds = 0.0;          ///< of all steps, those before a resume included
  std::uint64_t resumed_at = 0;  ///< 0: from the start
  std::vector<std::string> notes = {};
  std::vector<std::optional<ModelSummary>> training = {}, test = {};  ///< by model; once finished
};

/// Where a run leaves its state: in the output directory, or beside the caller if there is none.
[[nodiscard]] std::string checkpoint_path(const TrainQuestion& question);

/// Trains to the end, or until the observer asks to stop. Saves its state then, and every half minute
/// where there is an output directory.
///
/// Throws   InvalidArgument if there is no checkpoint to resume from, it is of another study (with the
///          differences), or there is one and nobody asked to resume.
[[nodiscard]] TrainRun train(const TrainInput& input, const TrainQuestion& question,
                             Observer& observer);

}  // namespace sfumato::lab
