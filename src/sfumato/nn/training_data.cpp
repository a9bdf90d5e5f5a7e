#include <fmt/format.h>

#include <algorithm>

#include "sfumato/nn/trial_group.hpp"

namespace sfumato {
namespace {

/// The records of the slots, then those that worlds put in their place.
std::vector<std::uint32_t> records_of(const Slots& slots, const std::vector<World>& worlds) {
  std::vector<std::uint32_t> records = slots.records;
  for (const World& world : worlds) {
    for (const SlotChange& change : world.changes) {
      if (!change.empty) records.push_back(change.record);
    }
  }
  return records;
}

}  // namespace

TrainingData::TrainingData(const LabelledSet& set, const Slots& of_slots,
                           std::vector<World> all_worlds)
    : worlds(std::move(all_worlds)),
      labels(of_slots.labels),
      slots(of_slots.count()),
      classes(static_cast<std::size_t>(set.classes)),
      store(set, records_of(of_slots, worlds)) {
  if (worlds.empty()) {
    throw InvalidArgument("no world to train in", "Give at least the world D, without changes");
  }
  auto next = static_cast<std::uint32_t>(slots);
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    for (const SlotChange& change : worlds[w].changes) {
      if (change.slot >= slots) {
        throw InvalidArgument(fmt::format("a change of slot {} of {}", change.slot, slots),
                              "Count slots from 0");
      }
      changes.push_back(
          {change.slot, static_cast<std::uint32_t>(w), change.empty, change.empty ? 0 : next});
      if (!change.empty) {
        labels.push_back(change.label);
        ++next;
      }
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.world < b.world;
  });
  first_change.resize(slots + 1);
  for (const Change& change : changes) ++first_change[change.slot + 1];
  for (std::size_t i = 0; i < slots; ++i) first_change[i + 1] += first_change[i];
}

}  // namespace sfumato
