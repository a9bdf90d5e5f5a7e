#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lab/images/data_sets.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/slots.hpp"
#include "lab/nn/trial_group.hpp"
#include "lab/study/spec/study.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// What a study is trained and tested on.
struct StudySets {
  LabelledSet train;
  std::optional<LabelledSet> test;  ///< none for a table without one
};

/// Loads the sets of a study, standardised as it says. Of CIFAR-10 the fewest batches that hold its
/// records are read, and D is drawn from those.
///
/// Throws   InvalidArgument as load_data_set() and read_labelled_table(), or if the study asks for more
///          records or larger batches than there are.
[[nodiscard]] StudySets load_sets(const Study& study, const DataPlaces& places = data_places());

/// D and D' of pair number `pair` of the study: the same D for all pairs but for the differing record.
///
/// Throws   InvalidArgument at the study's adjacency if the set has no such record, or none outside D to
///          replace it with; as differ().
[[nodiscard]] SlotPair adjacent_pair(const Study& study, const LabelledSet& train,
                                     std::uint64_t pair = 0);

/// D of a study whose worlds are made by coins, and the world in which every coin says out: of its
/// canaries, or of all records for shadow models. random_half() of it is the world of a model.
///
/// Throws   InvalidArgument if there are not fewer canaries than records; as differ().
[[nodiscard]] SlotPair coin_slots(const Study& study, const LabelledSet& train);

/// The worlds D and D', ready to train on.
[[nodiscard]] std::shared_ptr<const TrainingData> training_data(const LabelledSet& train,
                                                                const SlotPair& pair);

/// The network of a study for records of that shape.
///
/// Throws   InvalidArgument naming the layer and both shapes where they do not fit.
[[nodiscard]] Network network_of(const ModelSpec& model, const LabelledSet& train);

/// The noise policies of a study, covariances read from their files.
///
/// Throws   InvalidArgument as require_valid() and read_covariance(); for a covariance of another
///          dimension (naming both) or one that is not diagonal.
[[nodiscard]] std::vector<NoisePolicy> policies_of(const Study& study, const Network& network);

/// SHA-256 of what a study read, as text lines `name = "digest"` of a table [inputs] that follows the
/// canonical text: two runs with equal text and inputs train the same models.
[[nodiscard]] std::string inputs_text(const Study& study, const StudySets& sets);

}  // namespace sfumato::lab
