#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/nn/trial_group.hpp"
#include "lab/study/spec/study.hpp"
#include "lab/study/study_data.hpp"
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

/// Everything that is known before the first step of `sfumato train`.
struct TrainInput {
  Study study;
  StudySets sets;
  SlotPair pair;
  std::shared_ptr<const TrainingData> data;
  Network network;
  std::vector<NoisePolicy> policies;
  std::string identity;  ///< canonical text and checksums of what was read
};

/// Throws   InvalidArgument as the functions of study/study_data.hpp.
[[nodiscard]] TrainInput read_input(const TrainQuestion& question);

/// "D" or "D'".
[[nodiscard]] std::string world_name(std::size_t world);
/// What the files of a model are called: "isotropic.d_prime".
[[nodiscard]] std::string file_stem(const NoisePolicy& policy, std::size_t world);
[[nodiscard]] std::vector<std::string> parameter_names(const Network& network,
                                                       const std::vector<std::size_t>& indices);

}  // namespace sfumato::lab
