#pragma once

#include <optional>
#include <vector>

#include "lab/study/measures.hpp"
#include "lab/train/parameter_figures.hpp"
#include "lab/train/train_question.hpp"
#include "lab/train/train_run.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

/// What was measured of the final models, by model: nothing for one that diverged. Fewer than there are
/// models if it was stopped, none where nobody asked.
struct TrainMeasures {
  std::vector<std::optional<HessianMeasure>> hessian = {};
  std::vector<std::optional<FlatnessMeasure>> flatness = {};
  std::vector<std::optional<CovarianceMeasure>> covariance =
      {};  ///< nothing for Poisson batches either
  /// Variances of a step at the final weights of every model of D that has noise.
  std::vector<ParameterField> noise = {};
  bool stopped = false;
};

[[nodiscard]] TrainMeasures measure(const TrainQuestion& question, const TrainInput& input,
                                    const TrainRun& run, Observer& observer);

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
