#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/readings/distance.hpp"
#include "reproduce/readings/reading.hpp"
#include "reproduce/readings/trained_numbers.hpp"

namespace sfumato::apps {

/// The models of one training, by study and policy. Readings that only judge them differently share them.
using ReadingModels = std::vector<std::vector<PolicyNumbers>>;

struct JudgedReading {
  Reading reading;
  std::shared_ptr<const ReadingModels> models;
  std::optional<ReadingDistance> fit;  ///< nothing where every model of a policy diverged
};

/// Pairs and replicas that were trained, and the seeds of records and training.
struct SearchSize {
  std::size_t pairs, replicas;
  std::uint64_t seed;
};

/// The declared readings of a table, judged by their distance to the printed numbers; those chosen are judged again on models
/// and records that had no part in the choice.
struct ReadingSearch {
  PaperTable table;
  SearchSize selection, confirmation;
  std::vector<JudgedReading> tried;  ///< closest first; diverged ones last
  /// The closest one, and the next for which something else is trained; in that order.
  std::vector<JudgedReading> confirmed;
  bool reduced = false;  ///< fewer steps than the readings say

  /// The literal one among those tried; none at the quick scale of Table 1, where it would take minutes.
  [[nodiscard]] const JudgedReading* literal() const;
  /// The one of the smallest distance, as the fresh models have it.
  [[nodiscard]] const JudgedReading& closest() const { return confirmed.front(); }
};

/// Trains what the ledgers lack. Nothing if the observer asked to stop. Several parts ask for the same search: models are
/// trained once.
/// Throws   NumericalFailure if every reading diverged; as train_study().
[[nodiscard]] std::optional<ReadingSearch> search_readings(const PartContext& context,
                                                           PaperTable table);

}  // namespace sfumato::apps
