#pragma once

#include "lab/images/data_sets.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

/// How long groups of trials take on this machine, as busy as it is.
struct TimeCalibration {
  unsigned threads = 1;        ///< groups trained at once while measuring
  double group_seconds = 0.0;  ///< on the clock, for one group from start to scores
  bool whole = false;          ///< groups were trained to their end, nothing is extrapolated
};

/// Trains the study's first groups for about `seconds`, on `threads` threads at once, and says how long
/// whole ones take: steps by their measured time, the rest (initial weights, evaluation, scores) by
/// running a group of one step.
///
/// Throws   InvalidArgument if `threads` is 0; as TrialRunner; the error of a trial that fails.
[[nodiscard]] TimeCalibration calibrate(const Study& study, unsigned threads, double seconds,
                                        Observer& observer,
                                        const DataPlaces& places = data_places());

/// Seconds for `groups` groups on as many workers, each taking the next one that is left.
[[nodiscard]] double predicted_seconds(const TimeCalibration& calibration, std::uint64_t groups,
                                       std::uint64_t workers);

}  // namespace sfumato::lab
