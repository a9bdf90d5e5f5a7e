#pragma once

#include "lab/train/measures.hpp"
#include "lab/train/train_input.hpp"
#include "lab/train/train_question.hpp"
#include "lab/train/train_run.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

struct TrainAnswer {
  TrainQuestion question;
  TrainInput input;
  TrainRun run;
  TrainMeasures measures = {};

  /// Whether all steps were taken; if not, the state is in checkpoint_path().
  [[nodiscard]] bool finished() const { return run.group.step() >= input.study.train.iterations; }
  [[nodiscard]] bool stopped() const { return !finished() || measures.stopped; }
};

/// Trains, measures and, where an output directory is named, leaves there what files.hpp says. A finished run
/// removes its checkpoint.
///
/// Throws   InvalidArgument as read_input() and train(); StorageError as prepare_directory().
[[nodiscard]] TrainAnswer answer(const TrainQuestion& question, Observer& observer);

}  // namespace sfumato::lab
