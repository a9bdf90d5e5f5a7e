#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lab/nn/aligned_floats.hpp"
#include "lab/nn/bundle.hpp"
#include "lab/nn/bundle/row_clips.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/record_store.hpp"
#include "lab/nn/training.hpp"
#include "lab/nn/training_data.hpp"

namespace sfumato::lab {

/// The inputs of the rows of a step, expanded one after the other where the store has only bytes.
class ExpandedRows {
 public:
  explicit ExpandedRows(std::size_t input_size) : stride_(kernel::padded(input_size) + 8) {}

  void clear() { records_.clear(); }
  /// The row's number.
  std::size_t add(std::uint32_t record) {
    records_.push_back(record);
    return records_.size() - 1;
  }
  void expand(const RecordStore& store, std::span<const std::uint8_t> labels, bool sparse);
  [[nodiscard]] std::size_t count() const { return records_.size(); }
  [[nodiscard]] InputRows inputs() const {
    if (sparse_.empty()) return {count(), plain_.data(), nullptr, nullptr};
    return {count(), nullptr, sparse_.data(), shift_};
  }
  /// Only some of the rows; valid until the next call.
  [[nodiscard]] InputRows inputs(const std::vector<std::size_t>& rows);
  [[nodiscard]] const std::uint8_t* labels() const { return labels_.data(); }
  /// Sums of squares of the inputs.
  [[nodiscard]] const double* squares() const { return squares_.data(); }

 private:
  std::size_t stride_;
  std::vector<std::uint32_t> records_;
  AlignedFloats values_;
  std::vector<const float*> plain_, some_plain_;
  std::vector<kernel::SparseRow> sparse_, some_sparse_;
  const float* shift_ = nullptr;
  std::vector<std::uint8_t> labels_;
  std::vector<double> squares_;
};

/// The rows of a step's batch, and how much each counts in each world. A slot that a world has changed counts nothing there; what it
/// holds instead is a row of its own.
class StepRows {
 public:
  /// For bundles like this one. Where gradients are clipped, the order of a batch does not depend on its records.
  StepRows(std::shared_ptr<const TrainingData> data, const Training& training,
           const Bundle& bundle);

  /// Returns whether the batch, whose nominal size is given, tells any two worlds apart.
  bool gather(std::span<const std::uint32_t> batch, std::size_t nominal_size);

  /// What a sum of the step's gradients is multiplied with: one over the nominal batch size, or 1.
  [[nodiscard]] float unit() const { return unit_; }

  [[nodiscard]] ExpandedRows& rows() { return rows_; }
  [[nodiscard]] const std::vector<float>& weights(std::size_t world) const {
    return weights_[world];
  }
  /// Whether canary number k takes part in the step in that world.
  [[nodiscard]] bool canary_takes_part(std::size_t k, std::size_t world) const {
    return canary_worlds_[k][world];
  }
  /// For a step whose batch is empty: makes the bundle's gradients zero, which are those of one row that counts nothing.
  void clear_gradients(Bundle& bundle);

 private:
  struct Extra {
    std::size_t row;
    std::uint32_t world;
  };
  [[nodiscard]] std::span<const std::uint32_t> arranged(std::span<const std::uint32_t> batch);
  void find_canaries(std::span<const std::uint32_t> batch);

  std::shared_ptr<const TrainingData> data_;
  LossScale loss_;
  float unit_ = 1.0F;
  bool sparse_, arranges_;
  std::vector<std::uint32_t> batch_;
  ExpandedRows rows_;
  std::vector<std::vector<float>> weights_;  ///< [world][row]
  std::vector<Extra> extra_;
  std::vector<std::vector<bool>> canary_worlds_;  ///< [canary][world]
  std::vector<std::size_t> canary_of_slot_;       ///< the number of canaries: none
};

}  // namespace sfumato::lab
