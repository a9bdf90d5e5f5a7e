#include "lab/nn/training_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
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

/// By class, then by the number of pixels that are not zero.
std::vector<std::uint8_t> places_of(const RecordStore& store, std::span<const std::uint8_t> labels,
                                    std::size_t slots) {
  if (!store.sparse()) return {};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    const auto pixels = static_cast<std::uint32_t>(store.nonzero_count(i));
    const auto size = static_cast<std::uint32_t>(store.shape().size() + 1);
    order[i] = {labels[i] * size + pixels, static_cast<std::uint32_t>(i)};
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint8_t> places(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    places[order[i].second] = static_cast<std::uint8_t>(i * 256 / slots);
  }
  return places;
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
    throw InvalidArgument("no data set to train on", "Give at least D, without changes");
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
  places = places_of(store, labels, slots);
}

}  // namespace sfumato::lab
