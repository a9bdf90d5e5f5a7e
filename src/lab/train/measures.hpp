#pragma once

#include <optional>
#include <vector>

#include "lab/study/measures.hpp"
#include "lab/train/parameter_figures.hpp"
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

}  // namespace sfumato::lab
