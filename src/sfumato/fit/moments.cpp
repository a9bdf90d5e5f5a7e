#include "sfumato/fit/moments.hpp"

#include <cmath>
#include <vector>

#include "sfumato/account/accountant/release_grid.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/fit/sensitivity.hpp"
#include "sfumato/fit/stop_only.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {

using Eigen::Index;

namespace {

constexpr std::uint64_t kBlock = 1024;  // rows; a block of 64 features has half a megabyte

/// The lower half of sum v v^T over all rows, each changed by `prepare` first. Blocks are added in their order, so that threads do not matter.
template <class Prepare>
Eigen::MatrixXd gram(const RowMajor& x, const Prepare& prepare, const Observer& observer) {
  StopOnly quiet(observer);
  const Index d = x.cols();
  const auto rows = static_cast<std::uint64_t>(x.rows());
  Eigen::MatrixXd total = Eigen::MatrixXd::Zero(d, d);
  // A few blocks at a time: their partial sums must not outweigh the table.
  const std::uint64_t batch = 16 * kBlock;
  for (std::uint64_t from = 0; from < rows; from += batch) {
    const std::uint64_t count = std::min(batch, rows - from);
    std::vector<Eigen::MatrixXd> partial((count + kBlock - 1) / kBlock);
    const std::uint64_t done = parallel_blocks(
        {"second moments", count, kBlock}, quiet, [&](std::uint64_t first, std::uint64_t last) {
          Eigen::MatrixXd block =
              x.middleRows(static_cast<Index>(from + first), static_cast<Index>(last - first))
                  .transpose();
          for (Index i = 0; i < block.cols(); ++i) prepare(block.col(i).array());
          Eigen::MatrixXd& sum = partial[first / kBlock];
          sum = Eigen::MatrixXd::Zero(d, d);
          sum.selfadjointView<Eigen::Lower>().rankUpdate(block);
        });
    if (done < count) throw Stopped{};
    for (const Eigen::MatrixXd& one : partial) total += one;
  }
  return total;
}

Eigen::MatrixXd symmetric_from_lower(const Eigen::MatrixXd& lower) {
  return lower.selfadjointView<Eigen::Lower>();
}

}  // namespace

NoisyMoments release_moments(const RowMajor& x, const MomentsBudget& budget,
                             const ReleaseNoise& noise, Observer& observer) {
  const Index d = x.cols();
  const bool replaced = noise.relation == NeighbouringRelation::replace_one;
  if (noise.mode == NoiseMode::grid) {
    const MomentGrid grid = moment_grid(budget.bound, budget.mu, replaced, budget.rows,
                                        0.5 * static_cast<double>(d * (d + 1)));
    Eigen::MatrixXd sum = gram(
        x, [&](Eigen::Ref<Eigen::ArrayXd> row) { grid.grid.round(row); }, observer);
    for (Index j = 0; j < d; ++j) {
      // An entry off the diagonal stands for two of the symmetric matrix: with 1 / sqrt 2 of the noise on the diagonal the noise is isotropic in the
      // Frobenius norm, in which a row's share is |x|^2.
      for (Index i = j; i < d; ++i) {
        sum(i, j) += static_cast<double>(
            draw_discrete_gaussian(i == j ? grid.diagonal : grid.deviation, noise.bits));
      }
    }
    const double unit = 1.0 / (grid.grid.per_unit * grid.grid.per_unit);
    return {unit * symmetric_from_lower(sum), unit * static_cast<double>(grid.diagonal)};
  }
  return noisy_moments(gram(
                           x, [](const auto&) {}, observer),
                       budget.bound, budget.mu, noise.relation, noise.bits);
}

NoisyMoments noisy_moments(Eigen::MatrixXd lower, double bound, double mu,
                           NeighbouringRelation relation, ReleaseBits& bits) {
  const Index d = lower.cols();
  const double noise_std = second_moment_mu(bound, 1.0, relation) / mu;
  std::vector<double> normals(static_cast<std::size_t>(d * (d + 1) / 2));
  fill_normal(bits, normals);
  std::size_t next = 0;
  for (Index j = 0; j < d; ++j) {
    for (Index i = j; i < d; ++i) {
      lower(i, j) += noise_std * (i == j ? 1.0 : std::sqrt(0.5)) * normals[next++];
    }
  }
  return {symmetric_from_lower(lower), noise_std};
}

}  // namespace sfumato
