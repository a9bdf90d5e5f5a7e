#pragma once

#include <memory>
#include <vector>

#include "lab/nn/slots.hpp"
#include "lab/nn/trial_group.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// What a group was made of.
struct GroupMaterial {
  const Network& network;
  const LabelledSet& set;
  const Slots& slots;
  std::shared_ptr<const TrainingData> data;
  const std::vector<NoisePolicy>& policies;
  const Training& training;
  NeighbouringRelation relation;
};

/// Trains the group to its end. A model with the metric `input` is trained by itself, in coordinates whitened by the second moments that its own
/// world released, with noise of the seed; the group then holds it as a network on the inputs as they are (Spec §23.4).
/// Returns  false if the observer asked to stop, and then the group is not trained.
[[nodiscard]] bool train_to_end(TrialGroup& group, const GroupMaterial& material,
                                Observer& observer);

}  // namespace sfumato::lab
