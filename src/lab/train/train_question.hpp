#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sfumato/data/keys/key.hpp"

namespace sfumato::lab {

/// What can be measured of the final models of `sfumato train`.
enum class TrainMeasure {
  hessian,     ///< curvature of the training loss
  flatness,    ///< how far the record moves the gradient
  covariance,  ///< minibatch noise
  noise,       ///< where in the network the noise goes
};

/// "hessian", "flatness", "covariance" or "noise".
[[nodiscard]] std::string_view name(TrainMeasure measure);

/// Train one group of a study's models, D and D' under every noise policy, and look at them.
struct TrainQuestion {
  std::string study;                       ///< file
  std::vector<std::string> settings = {};  ///< key=value, over what the file says
  std::string out = {};  ///< directory for parameters, log and checkpoints; empty: none are written
  bool resume = false;   ///< go on from the checkpoint of an interrupted run
  bool force = false;    ///< replace the results of another run
  std::vector<TrainMeasure> measures = {};

  [[nodiscard]] bool wants(TrainMeasure measure) const;
};

/// All but `settings`, key=value over the keys of the study, and `force`.
[[nodiscard]] const Keys<TrainQuestion>& train_keys();

}  // namespace sfumato::lab
