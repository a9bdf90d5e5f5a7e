#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lab/nn/trial_group.hpp"

namespace sfumato::lab {

/// Losses and accuracy of one model on the records of its world.
struct ModelSummary {
  double mean_loss = 0.0;
  double largest_loss = 0.0;  ///< of a single record
  double accuracy = 0.0;      ///< share of records whose class has the largest logit
  std::size_t records = 0;
};

/// Each model of the group on the filled slots of its own world; nothing for one whose losses are not
/// finite.
[[nodiscard]] std::vector<std::optional<ModelSummary>> summarise_training(TrialGroup& group,
                                                                          const TrainingData& data);

/// Each model on all records of a store.
/// Throws   InvalidArgument if there is not one label per record.
[[nodiscard]] std::vector<std::optional<ModelSummary>> summarise(
    TrialGroup& group, const RecordStore& store, std::span<const std::uint8_t> labels);

}  // namespace sfumato::lab
