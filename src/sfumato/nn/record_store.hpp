#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sfumato/data/labelled_set.hpp"
#include "sfumato/nn/network.hpp"

namespace sfumato {

/// The inputs of some records of a set, in the order the networks store them (pixel by pixel, channels
/// fastest), standardised. Pixels stay bytes and are expanded when asked for, so that a large set stays in
/// the cache. Read-only: threads share it.
class RecordStore {
 public:
  /// Throws   InvalidArgument if a record is not in the set.
  RecordStore(const LabelledSet& set, std::span<const std::uint32_t> records);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Writes the shape().size() inputs of record i of the list: value times scale plus shift, fused, in
  /// single precision; within 2 units in the last place of standardised().
  void inputs(std::size_t i, float* values) const;

 private:
  Shape shape_;
  std::size_t count_;
  std::vector<std::uint8_t> bytes_;  ///< one of these is empty
  std::vector<float> features_;      ///< standardised already
  std::vector<float> scale_, shift_;
};

}  // namespace sfumato
