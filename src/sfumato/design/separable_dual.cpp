#include "sfumato/design/separable_dual.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "sfumato/core/parallel.hpp"
#include "sfumato/design/chunked_gram.hpp"
#include "sfumato/design/square_kernels.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kBlock = 4096;  // coordinates: sums of a block stay in the first cache

void over_blocks(Index count, unsigned threads, const std::function<void(Index, Index)>& work) {
  Observer quiet;
  parallel_blocks({"design", static_cast<std::uint64_t>(count), kBlock, threads}, quiet,
                  [&](std::uint64_t first, std::uint64_t last) {
                    work(static_cast<Index>(first), static_cast<Index>(last - first));
                  });
}

}  // namespace

SeparableDual::SeparableDual(const Differences& differences, Items items, unsigned threads)
    : differences_(differences),
      items_(std::move(items)),
      threads_(threads),
      moments_(differences.cols()) {}

DualProblem::Point SeparableDual::evaluate(const VectorXd& weights) {
  const Index size = differences_.cols();
  over_blocks(size, threads_, [&](Index first, Index length) {
    moments_.segment(first, length).setZero();
    for (Index k = 0; k < count(); ++k) {
      add_weighted_squares(differences_.row(k).data() + first, weights(k), moments_.data() + first,
                           length);
    }
  });
  moments_.array() = moments_.array() * items_.weights.array() + items_.constants.array();
  spread_ = spread_budget(moments_.cwiseSqrt(), items_.floors, items_.budget);

  // No noise, no difference: the cost of an item with moment 0 is 0.
  const VectorXd inverse =
      (spread_.shares.array() > 0.0).select(spread_.shares.cwiseInverse(), 0.0);
  const VectorXd factors = inverse.cwiseProduct(items_.weights);
  const Index blocks = (size + kBlock - 1) / kBlock;
  MatrixXd parts(count(), blocks);
  over_blocks(size, threads_, [&](Index first, Index length) {
    for (Index k = 0; k < count(); ++k) {
      parts(k, first / kBlock) = sum_of_weighted_squares(differences_.row(k).data() + first,
                                                         factors.data() + first, length);
    }
  });
  VectorXd costs = VectorXd::Zero(count());
  for (Index block = 0; block < blocks; ++block) costs += parts.col(block);
  constant_cost_ = inverse.dot(items_.constants);
  costs.array() += constant_cost_;
  // All terms are positive, so rounding is relative: a few units in the last place per block.
  return {spread_.cost, spread_.cost * (1.0 - 1e-14), std::move(costs)};
}

MatrixXd SeparableDual::curvature(const std::vector<Index>& active) const {
  // d/dg of 1/u_i = nu / sqrt(g_i): - nu g_i^{-3/2} / 2 at a fixed level nu, and the level moves by
  // d nu = sum_i dg_i / sqrt(g_i) / (2 B) over the items above their floor, which share B.
  const Index size = moments_.size();
  VectorXd scale(size);
  VectorXd inverse_root(size);
  for (Index i = 0; i < size; ++i) {
    const bool free = !spread_.at_floor(i) && moments_(i) > 0.0;
    inverse_root(i) = free ? 1.0 / std::sqrt(moments_(i)) : 0.0;
    scale(i) = std::sqrt(0.5 * spread_.level * inverse_root(i)) * inverse_root(i);
  }
  const Index rows = static_cast<Index>(active.size());
  const MatrixXd gram = chunked_gram(
      rows, size,
      [&](Index first, Index first_row, Index last_row, MatrixXd& chunk) {
        for (Index j = first_row; j < last_row; ++j) {
          const double* row = differences_.row(active[static_cast<std::size_t>(j)]).data() + first;
          for (Index i = 0; i < chunk.cols(); ++i) {
            const Index item = first + i;
            chunk(j, i) =
                (items_.weights(item) * (row[i] * row[i]) + items_.constants(item)) * scale(item);
          }
        }
      },
      threads_);
  if (!(spread_.free_budget > 0.0)) return -gram;
  const VectorXd factors = inverse_root.cwiseProduct(items_.weights);
  const double constant = inverse_root.dot(items_.constants);
  VectorXd slope(rows);
  for (Index j = 0; j < rows; ++j) {
    slope(j) = constant +
               sum_of_weighted_squares(differences_.row(active[static_cast<std::size_t>(j)]).data(),
                                       factors.data(), size);
  }
  return slope * slope.transpose() * (0.5 / spread_.free_budget) - gram;
}

}  // namespace sfumato
