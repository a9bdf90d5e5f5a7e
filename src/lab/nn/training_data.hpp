#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/nn/record_store.hpp"
#include "lab/nn/slots.hpp"

namespace sfumato::lab {

/// The slots of D with their records, and the worlds: what a group is trained on. Made once and shared
/// by the groups of a pair.
struct TrainingData {
  /// `worlds` are masks over the slots (data/slots.hpp).
  /// Throws   InvalidArgument if a change is of a slot that does not exist, or there is no world.
  TrainingData(const LabelledSet& set, const Slots& slots, std::vector<World> worlds);

  std::vector<World> worlds;
  std::vector<std::uint8_t> labels;  ///< of the store's records
  std::size_t slots;                 ///< the first of the store's records are those of the slots
  std::size_t classes;
  RecordStore store;

  struct Change {
    std::uint32_t slot;
    std::uint32_t world;
    bool empty;
    std::uint32_t record;  ///< of the store, unless empty
  };
  std::vector<Change> changes;              ///< ordered by slot, then world
  std::vector<std::uint32_t> first_change;  ///< of each slot, and the end

  /// Where a slot stands, from 0 to 255, when slots are ordered so that records that are zero at the
  /// same pixels are near each other; empty if the store is not sparse. Neighbours in a batch skip the
  /// zeros that they have in common.
  std::vector<std::uint8_t> places;
};

}  // namespace sfumato::lab
