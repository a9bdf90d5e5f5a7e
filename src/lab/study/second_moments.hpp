#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "lab/nn/aligned_floats.hpp"

namespace sfumato::lab {

/// Rows of one width, one below the other, and where each begins.
struct RowBlock {
  RowBlock(std::size_t rows, std::size_t width);

  std::size_t stride;
  AlignedFloats values;
  std::vector<const float*> starts;
};

/// sum over slots of the mean over positions of a a^T, a record's part of which is positive semi-definite with a trace of at most bound^2. Products are
/// added in single precision within a block of slots and in double precision between blocks. In the other world one slot holds something
/// else, so that one block changes: with n rows of R slots the rounding of its sums, of both worlds together, is at most
/// 2 n u R bound^2 in the Frobenius norm (|fl(sum) - sum| <= n u sum |a_i a_j| for each entry, and the norm of sum |a| |a|^T is at most
/// sum |a|^2). Records are scaled down by as much, and the sensitivity is that of exact sums.
class SecondMoments {
 public:
  SecondMoments(std::size_t positions, std::size_t width, double bound);

  /// Slots whose products are added before they join the sum.
  [[nodiscard]] std::size_t slots() const { return slots_; }

  /// Adds a block of at most slots() slots: read(i, rows, stride) writes the rows of number i and returns true, or returns false where it holds
  /// nothing. Longer ones than the bound are scaled down to it, and one that is not finite counts as zero.
  template <class Read>
  void add(std::size_t count, const Read& read) {
    for (std::size_t i = 0; i < count; ++i) {
      float* to = block_.values.data() + i * positions_ * block_.stride;
      if (read(i, to, block_.stride)) {
        scale(to);
      } else {
        clear(to);
      }
    }
    add_products(count * positions_);
  }

  /// The lower half of the sum.
  [[nodiscard]] Eigen::MatrixXd sum() const { return sum_.transpose(); }

 private:
  [[nodiscard]] double margin() const;
  void scale(float* rows) const;
  void clear(float* rows) const;
  void add_products(std::size_t rows);

  std::size_t positions_, width_, slots_;
  double longest_;
  RowBlock block_;
  AlignedFloats product_;
  std::vector<const float*> strip_;
  Eigen::MatrixXd sum_;  ///< the upper half
};

}  // namespace sfumato::lab
