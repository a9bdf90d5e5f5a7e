#include "lab/nn/group/step_rows.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace sfumato::lab {
namespace {

/// Records that are asked for before they are read.
constexpr std::size_t kAhead = 3;

}  // namespace

void ExpandedRows::expand(const RecordStore& store, std::span<const std::uint8_t> labels,
                          bool sparse) {
  sparse = sparse && store.sparse();
  values_.require(records_.size() * stride_);
  plain_.clear();
  sparse_.clear();
  labels_.resize(records_.size());
  squares_.resize(records_.size());
  for (std::size_t r = 0; r < records_.size(); ++r) {
    float* room = values_.data() + r * stride_;
    if (r + kAhead < records_.size()) store.expect(records_[r + kAhead]);
    if (sparse) {
      sparse_.push_back(store.sparse_row(records_[r], room));
    } else {
      plain_.push_back(store.inputs(records_[r], room));
    }
    labels_[r] = labels[records_[r]];
    squares_[r] = store.squared_norm(records_[r]);
  }
  shift_ = store.shift();
}

InputRows ExpandedRows::inputs(const std::vector<std::size_t>& rows) {
  some_plain_.clear();
  some_sparse_.clear();
  for (const std::size_t r : rows) {
    if (sparse_.empty()) {
      some_plain_.push_back(plain_[r]);
    } else {
      some_sparse_.push_back(sparse_[r]);
    }
  }
  if (sparse_.empty()) return {rows.size(), some_plain_.data(), nullptr, nullptr};
  return {rows.size(), nullptr, some_sparse_.data(), shift_};
}

StepRows::StepRows(std::shared_ptr<const TrainingData> data, const Training& training,
                   const Bundle& bundle)
    : data_(std::move(data)),
      loss_(training.loss),
      sparse_(bundle.reads_sparse_rows()),
      arranges_(!bundle.clips()),
      rows_(data_->store.shape().size()),
      canary_worlds_(training.canary_slots.size()) {
  if (canary_worlds_.empty()) return;
  canary_of_slot_.assign(data_->slots, canary_worlds_.size());
  for (std::size_t k = 0; k < canary_worlds_.size(); ++k) {
    canary_of_slot_[training.canary_slots[k]] = k;
  }
}

bool StepRows::gather(std::span<const std::uint32_t> drawn, std::size_t nominal_size) {
  unit_ = loss_ == LossScale::mean ? 1.0F / static_cast<float>(nominal_size) : 1.0F;
  const std::span<const std::uint32_t> batch = arranged(drawn);
  const std::size_t worlds = data_->worlds.size();
  rows_.clear();
  for (const std::uint32_t slot : batch) rows_.add(slot);
  extra_.clear();
  bool differs = false;
  for (auto& weights : weights_) weights.clear();
  weights_.resize(worlds);
  for (auto& weights : weights_) weights.assign(batch.size(), unit_);
  for (std::size_t r = 0; r < batch.size(); ++r) {
    for (std::uint32_t c = data_->first_change[batch[r]]; c < data_->first_change[batch[r] + 1];
         ++c) {
      const TrainingData::Change& change = data_->changes[c];
      weights_[change.world][r] = 0.0F;
      differs = true;
      if (!change.empty) extra_.push_back({rows_.add(change.record), change.world});
    }
  }
  for (auto& weights : weights_) weights.resize(rows_.count(), 0.0F);
  for (const Extra& extra : extra_) weights_[extra.world][extra.row] = unit_;
  find_canaries(batch);
  rows_.expand(data_->store, data_->labels, sparse_);
  return differs;
}

/// In which worlds the canaries take part in the step; the records in whose place they are count nothing.
void StepRows::find_canaries(std::span<const std::uint32_t> batch) {
  if (canary_worlds_.empty()) return;
  for (auto& worlds : canary_worlds_) worlds.assign(data_->worlds.size(), false);
  for (std::size_t r = 0; r < batch.size(); ++r) {
    const std::size_t k = canary_of_slot_[batch[r]];
    if (k == canary_worlds_.size()) continue;
    for (std::size_t w = 0; w < data_->worlds.size(); ++w) {
      canary_worlds_[k][w] = weights_[w][r] != 0.0F;
      weights_[w][r] = 0.0F;
    }
  }
}

/// The batch in the order of the slots' places. A batch is a set: its order is ours to choose.
std::span<const std::uint32_t> StepRows::arranged(std::span<const std::uint32_t> batch) {
  if (!arranges_ || data_->places.empty()) return batch;
  std::array<std::uint32_t, 257> starts{};
  for (const std::uint32_t slot : batch) ++starts[data_->places[slot] + 1U];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  batch_.resize(batch.size());
  for (const std::uint32_t slot : batch) batch_[starts[data_->places[slot]]++] = slot;
  return batch_;
}

void StepRows::clear_gradients(Bundle& bundle) {
  rows_.add(0);
  rows_.expand(data_->store, data_->labels, sparse_);
  const std::vector<float> nothing(bundle.models(), 0.0F);
  bundle.compute_gradients({rows_.inputs(), rows_.labels(), nothing.data()}, nullptr);
  rows_.clear();
}

}  // namespace sfumato::lab
