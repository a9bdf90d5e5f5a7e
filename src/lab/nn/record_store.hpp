#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/kernel/sparse.hpp"
#include "lab/nn/network.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// The inputs of some records of a set, in the order the networks store them (pixel by pixel, channels
/// fastest), standardised. Where all of them would not stay in the cache as floats, pixels stay bytes and
/// are expanded when asked for. Read-only: threads share it.
class RecordStore {
 public:
  /// Throws   InvalidArgument if a record is not in the set.
  RecordStore(const LabelledSet& set, std::span<const std::uint32_t> records);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// The shape().size() inputs of record i of the list, and eight floats that mean nothing: value times
  /// scale plus shift, fused, in single precision, within 2 units in the last place of standardised().
  /// Where they are not kept they are written to `room`, which has as many, and returned from there.
  const float* inputs(std::size_t i, float* room) const;

  /// Whether sparse_row() can be asked: pixels, of which a quarter or more is zero.
  [[nodiscard]] bool sparse() const { return !positions_.empty(); }
  /// The inputs less shift(), which are zero where the pixel is; values as inputs().
  [[nodiscard]] kernel::SparseRow sparse_row(std::size_t i, float* room) const;
  /// Asks the memory for record i, which will be read soon: records are anywhere in a large set.
  void expect(std::size_t i) const;
  /// How many pixels of record i are not zero.
  [[nodiscard]] std::size_t nonzero_count(std::size_t i) const;
  [[nodiscard]] const float* shift() const { return shift_.data(); }
  /// The sum of squares of the inputs of record i, for norms of gradients.
  [[nodiscard]] double squared_norm(std::size_t i) const { return squared_norms_[i]; }

 private:
  void expand(std::size_t i, const std::vector<float>& shift, float* values) const;
  void find_positions();
  void find_norms();

  Shape shape_;
  std::size_t count_;
  std::vector<std::uint8_t> bytes_;
  std::vector<float> floats_;     ///< standardised, where they are kept
  std::vector<float> unshifted_;  ///< the same less the shift, if sparse
  std::vector<float> scale_, shift_, no_shift_;
  std::vector<double> squared_norms_;
  std::vector<std::uint64_t> positions_, groups_;  ///< bits, by record; see kernel::SparseRow
};

}  // namespace sfumato::lab
