#include "lab/study/model_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sfumato/core/check.hpp"

namespace sfumato::lab {
namespace {

std::optional<ModelSummary> summary_of(const std::vector<float>& losses,
                                       const std::vector<std::uint8_t>& predicted,
                                       std::span<const std::uint8_t> labels,
                                       const std::vector<std::uint32_t>& records) {
  ModelSummary summary;
  std::size_t right = 0;
  for (const std::uint32_t record : records) {
    const auto loss = static_cast<double>(losses[record]);
    if (!std::isfinite(loss)) return std::nullopt;
    summary.mean_loss += loss;
    summary.largest_loss = std::max(summary.largest_loss, loss);
    right += predicted[record] == labels[record] ? 1U : 0U;
  }
  summary.records = records.size();
  const double count = static_cast<double>(std::max<std::size_t>(1, records.size()));
  summary.mean_loss /= count;
  summary.accuracy = static_cast<double>(right) / count;
  return summary;
}

/// The records of the store that a world holds.
std::vector<std::uint32_t> held(const TrainingData& data, std::size_t world) {
  std::vector<std::uint32_t> records;
  for (std::uint32_t slot = 0; slot < data.slots; ++slot) {
    bool changed = false;
    for (std::uint32_t c = data.first_change[slot]; c < data.first_change[slot + 1]; ++c) {
      const TrainingData::Change& change = data.changes[c];
      if (change.world != world) continue;
      changed = true;
      if (!change.empty) records.push_back(change.record);
    }
    if (!changed) records.push_back(slot);
  }
  return records;
}

}  // namespace

std::vector<std::optional<ModelSummary>> summarise_training(TrialGroup& group,
                                                            const TrainingData& data) {
  const TrialGroup::Evaluation evaluation = group.evaluate(data.store, data.labels);
  std::vector<std::optional<ModelSummary>> summaries;
  for (std::size_t m = 0; m < group.models().size(); ++m) {
    summaries.push_back(summary_of(evaluation.losses[m], evaluation.predicted[m], data.labels,
                                   held(data, group.models()[m].world)));
  }
  return summaries;
}

std::vector<std::optional<ModelSummary>> summarise(TrialGroup& group, const RecordStore& store,
                                                   std::span<const std::uint8_t> labels) {
  require_size("labels", std::ssize(labels), static_cast<std::ptrdiff_t>(store.count()));
  const TrialGroup::Evaluation evaluation = group.evaluate(store, labels);
  std::vector<std::uint32_t> records(store.count());
  std::iota(records.begin(), records.end(), 0U);
  std::vector<std::optional<ModelSummary>> summaries;
  for (std::size_t m = 0; m < group.models().size(); ++m) {
    summaries.push_back(summary_of(evaluation.losses[m], evaluation.predicted[m], labels, records));
  }
  return summaries;
}

}  // namespace sfumato::lab
