#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/nn/trial_group.hpp"
#include "lab/study/material.hpp"
#include "lab/study/spec/study.hpp"
#include "lab/train/train_question.hpp"

namespace sfumato::lab {

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

/// Throws   InvalidArgument as the functions of study/material.hpp.
[[nodiscard]] TrainInput read_input(const TrainQuestion& question);

/// "D" or "D'".
[[nodiscard]] std::string world_name(std::size_t world);
/// What the files of a model are called: "isotropic.d_prime".
[[nodiscard]] std::string file_stem(const NoisePolicy& policy, std::size_t world);
[[nodiscard]] std::vector<std::string> parameter_names(const Network& network,
                                                       const std::vector<std::size_t>& indices);

}  // namespace sfumato::lab
