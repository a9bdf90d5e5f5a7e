#include "lab/nn/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

/// Sets the streams of one seed apart. The numbers enter the keys: never change one.
enum Choice : std::uint64_t {
  kSubset = 1,
  kPositions = 2,
  kLabels = 3,
  kOthers = 4,
  kHalves = 5,
};

Stream stream_of(std::uint64_t seed, Choice choice, std::uint64_t draw = 0) {
  return Stream(StreamKey(seed, Purpose::selection, {choice, draw}));
}

void require_slots_of(const LabelledSet& set, const Slots& slots) {
  if (slots.count() == 0) throw InvalidArgument("there are no slots", "Give one or more");
  require_size("labels of slots", static_cast<std::ptrdiff_t>(slots.labels.size()),
               static_cast<std::ptrdiff_t>(slots.count()));
  const std::uint32_t largest = *std::max_element(slots.records.begin(), slots.records.end());
  if (largest >= set.count()) {
    throw InvalidArgument(
        fmt::format("a slot holds record {} of the {} in {}", largest, set.count(), set.name),
        "Draw the slots from this set");
  }
}

std::vector<std::uint32_t> ascending(std::span<const std::uint32_t> chosen, std::size_t count) {
  std::vector<std::uint32_t> sorted(chosen.begin(), chosen.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) throw InvalidArgument("no slot is chosen", "Choose one or more");
  if (sorted.back() >= count) {
    throw InvalidArgument(fmt::format("there is no slot {} among {}", sorted.back(), count),
                          "Slots count from 0");
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw InvalidArgument(fmt::format("slot {} is chosen twice", *twice), "Choose it once");
  }
  return sorted;
}

std::vector<std::uint32_t> records_outside(const LabelledSet& set, const Slots& slots) {
  std::vector<bool> inside(set.count(), false);
  for (const std::uint32_t record : slots.records) inside[record] = true;
  std::vector<std::uint32_t> outside;
  for (std::size_t record = 0; record < set.count(); ++record) {
    if (!inside[record]) outside.push_back(static_cast<std::uint32_t>(record));
  }
  return outside;
}

/// Every class but `label` is equally likely.
std::uint8_t another_class(std::uint8_t label, int classes, const Stream& stream,
                           std::uint32_t slot) {
  const auto others = static_cast<std::uint64_t>(classes - 1);
  const std::uint64_t shift = 1 + stream.below(0, slot, others);
  return static_cast<std::uint8_t>((label + shift) % static_cast<std::uint64_t>(classes));
}

}  // namespace

Slots random_slots(const LabelledSet& set, std::size_t count, std::uint64_t seed) {
  if (count == 0) throw InvalidArgument("a training set of 0 records", "Ask for one or more");
  if (count > set.count()) {
    throw InvalidArgument(
        fmt::format("{} records are asked of {}, which has {}", count, set.name, set.count()),
        "Ask for at most as many as there are");
  }
  Slots slots;
  slots.records = random_choice(set.count(), count, stream_of(seed, kSubset), 0);
  slots.labels.reserve(count);
  for (const std::uint32_t record : slots.records) slots.labels.push_back(set.labels[record]);
  return slots;
}

std::uint32_t hold_record(Slots& slots, const LabelledSet& set, std::uint32_t record) {
  require_slots_of(set, slots);
  if (record >= set.count()) {
    throw InvalidArgument(
        fmt::format("there is no record {} among the {} of {}", record, set.count(), set.name),
        "Records count from 0");
  }
  const auto found = std::find(slots.records.begin(), slots.records.end(), record);
  if (found == slots.records.end()) {
    slots.records.back() = record;
    slots.labels.back() = set.labels[record];
    return static_cast<std::uint32_t>(slots.count() - 1);
  }
  return static_cast<std::uint32_t>(found - slots.records.begin());
}

std::vector<std::uint32_t> random_positions(std::size_t count, std::size_t many, std::uint64_t seed,
                                            std::uint64_t draw) {
  if (many > count) {
    throw InvalidArgument(fmt::format("{} differing slots are asked of {}", many, count),
                          "Ask for at most as many as there are records in D");
  }
  return random_choice(count, many, stream_of(seed, kPositions, draw), 0);
}

SlotPair differ(const LabelledSet& set, Slots slots, std::span<const std::uint32_t> chosen,
                const SlotDifference& difference, std::uint64_t seed, std::uint64_t draw) {
  require_slots_of(set, slots);
  const std::vector<std::uint32_t> positions = ascending(chosen, slots.count());
  SlotPair pair{std::move(slots), {}};
  if (difference.adjacency == Adjacency::remove) {
    if (positions.size() == pair.slots.count()) {
      throw InvalidArgument("removing all records leaves nothing to train on",
                            "Give D more records than the ones that differ");
    }
    for (const std::uint32_t slot : positions) pair.other.changes.push_back({slot, true, 0, 0});
  } else {
    const std::vector<std::uint32_t> outside = records_outside(set, pair.slots);
    if (outside.size() < positions.size()) {
      throw InvalidArgument(
          fmt::format("{} replacements are asked, but D leaves {} of the {} records of {}",
                      positions.size(), outside.size(), set.count(), set.name),
          "Give D fewer records, or load more of the set");
    }
    const auto drawn =
        random_choice(outside.size(), positions.size(), stream_of(seed, kOthers, draw), 0);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const std::uint32_t record = outside[drawn[i]];
      pair.other.changes.push_back({positions[i], false, record, set.labels[record]});
    }
  }
  if (difference.mislabel) {
    const Stream labels = stream_of(seed, kLabels, draw);
    for (const std::uint32_t slot : positions) {
      std::uint8_t& label = pair.slots.labels[slot];
      label = another_class(label, set.classes, labels, slot);
    }
  }
  return pair;
}

Slots own_slots(const Slots& slots, const World& world) {
  Slots own;
  auto change = world.changes.begin();
  for (std::uint32_t slot = 0; slot < slots.count(); ++slot) {
    const bool changed = change != world.changes.end() && change->slot == slot;
    if (!changed || !change->empty) {
      own.records.push_back(changed ? change->record : slots.records[slot]);
      own.labels.push_back(changed ? change->label : slots.labels[slot]);
    }
    if (changed) ++change;
  }
  return own;
}

World random_half(const World& all, std::uint64_t seed, std::uint64_t model) {
  const Stream coins = stream_of(seed, kHalves, model);
  World world;
  std::copy_if(all.changes.begin(), all.changes.end(), std::back_inserter(world.changes),
               [&](const SlotChange& change) { return coins.below(0, change.slot, 2) == 1; });
  return world;
}

std::vector<std::uint32_t> random_choice(std::size_t population, std::size_t count,
                                         const Stream& stream, std::uint64_t step) {
  if (population > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(fmt::format("{} records are more than 2^32 - 1", population),
                          "Use a part of them");
  }
  if (count > population) {
    throw InvalidArgument(fmt::format("{} of {} records cannot be chosen", count, population),
                          "Choose at most all of them");
  }
  std::vector<std::uint32_t> numbers(population);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(numbers[i], numbers[i + stream.below(step, i, population - i)]);
  }
  numbers.resize(count);
  return numbers;
}

}  // namespace sfumato::lab
