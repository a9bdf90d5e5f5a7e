#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/labelled_set.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::lab {

/// A training set D as N slots, and the worlds that differ from it in some of them.
///
/// Batches are drawn over the slots, the same in every world. A slot that is empty in a world counts
/// as a gradient of zero, and the sum is still divided by the nominal batch size: the literature's
/// zero-out adjacency for `remove`. N is the same in all worlds and public.
struct Slots {
  std::vector<std::uint32_t> records;  ///< which record of the set sits in each slot
  std::vector<std::uint8_t>
      labels;  ///< its label; not the set's own where a canary was mislabelled

  [[nodiscard]] std::size_t count() const { return records.size(); }
};

/// What a slot holds in a world where it does not hold what D has there.
struct SlotChange {
  std::uint32_t slot = 0;
  bool empty = true;
  std::uint32_t record = 0;  ///< of the set; 0 when empty
  std::uint8_t label = 0;    ///< 0 when empty

  friend bool operator==(const SlotChange&, const SlotChange&) = default;
};

/// A world is a mask over the slots of D. D itself has no change, D' of a pair has one, the world of a
/// shadow model or of a one-run audit has many.
struct World {
  std::vector<SlotChange> changes;  ///< by ascending slot, each slot at most once

  friend bool operator==(const World&, const World&) = default;
};

/// D and the world in which all chosen slots differ: D' for one of them.
struct SlotPair {
  Slots slots;
  World other;
};

/// N records of the set at random, without repetition, in random order, with their own labels: a pure
/// function of (seed, count, size of the set). Fewer slots of the same seed are the first of more.
///
/// Throws   InvalidArgument if count is 0 or larger than the set.
[[nodiscard]] Slots random_slots(const LabelledSet& set, std::size_t count, std::uint64_t seed);

/// The slot that holds this record of the set. If none does, the record takes the last slot: of random
/// slots this makes random ones that hold the record, all such subsets being equally likely.
///
/// Throws   InvalidArgument if the set has no such record; as random_slots() for no slots.
std::uint32_t hold_record(Slots& slots, const LabelledSet& set, std::uint32_t record);

/// `many` different slots of `count` at random, in random order, the first of more for fewer. `draw`
/// tells apart choices of one seed: pairs, replicas.
///
/// Throws   InvalidArgument if there are not so many.
[[nodiscard]] std::vector<std::uint32_t> random_positions(std::size_t count, std::size_t many,
                                                          std::uint64_t seed, std::uint64_t draw);

/// How the chosen slots differ between D and the other world.
struct SlotDifference {
  Adjacency adjacency = Adjacency::remove;
  /// Canaries: in D the chosen records carry the label of another class, each equally likely.
  bool mislabel = false;
};

/// D with the chosen slots as `difference` says, and the world in which all of them are empty (remove)
/// or hold other records of the set, different ones, none of them in D, with their own labels (replace).
/// A slot's new label depends on (seed, draw, slot), the other records on (seed, draw) and D.
///
/// Throws   InvalidArgument if a chosen slot does not exist or occurs twice, none is chosen, the slots
///          do not belong to the set, removing would leave no slot filled, or the set has too few
///          records outside D to replace with.
[[nodiscard]] SlotPair differ(const LabelledSet& set, Slots slots,
                              std::span<const std::uint32_t> chosen,
                              const SlotDifference& difference, std::uint64_t seed,
                              std::uint64_t draw);

/// The records that a world holds, as slots of their own: those that D has and the world lacks are not there.
[[nodiscard]] Slots own_slots(const Slots& slots, const World& world);

/// The world in which each change of `all` happens or not by a fair coin of its own (Spec §11.4 needs
/// them independent): a pure function of (seed, model, slot).
[[nodiscard]] World random_half(const World& all, std::uint64_t seed, std::uint64_t model);

/// The first `count` of the numbers 0 .. population - 1 in random order: every ordered choice without
/// repetition is equally likely. Fisher-Yates from the front,
///   exchange entry i with entry i + stream.below(step, i, population - i),  i = 0, 1, ...
/// so a smaller `count` of the same stream and step gives the beginning of a larger one.
///
/// Throws   InvalidArgument if count > population or population > 2^32 - 1.
[[nodiscard]] std::vector<std::uint32_t> random_choice(std::size_t population, std::size_t count,
                                                       const Stream& stream, std::uint64_t step);

}  // namespace sfumato::lab
