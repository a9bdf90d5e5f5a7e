#include "sfumato/design/dual_problem.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "sfumato/core/parallel.hpp"
#include "sfumato/design/task_rules.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Fills rows [first_row, last_row) of `chunk` with columns [first, first + chunk.cols()) of a
/// matrix that is too wide to be kept.
using FillColumns = std::function<void(Eigen::Index first, Eigen::Index first_row,
                                       Eigen::Index last_row, Eigen::MatrixXd& chunk)>;

constexpr Index kColumns = 1024;  // 4 MB for 500 rows
constexpr Index kRows = 64;  // of a tile: large enough for a fast product, enough tiles to share

/// Z Z^T for a matrix Z of rows x columns that is made a thousand columns at a time. The same bits
/// for any number of threads (0: as many as the machine has).
MatrixXd chunked_gram(Index rows, Index columns, const FillColumns& fill, unsigned threads) {
  MatrixXd gram = MatrixXd::Zero(rows, rows);
  Observer quiet;
  const auto tiles = [&](const std::function<void(Index, Index)>& work) {
    parallel_blocks({"curvature", static_cast<std::uint64_t>(rows), kRows, threads}, quiet,
                    [&](std::uint64_t first, std::uint64_t last) {
                      work(static_cast<Index>(first), static_cast<Index>(last));
                    });
  };
  for (Index first = 0; first < columns; first += kColumns) {
    MatrixXd chunk(rows, std::min(kColumns, columns - first));
    tiles([&](Index a, Index b) { fill(first, a, b, chunk); });
    tiles([&](Index a, Index b) {
      gram.block(a, 0, b - a, b).noalias() +=
          chunk.middleRows(a, b - a) * chunk.topRows(b).transpose();
    });
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

constexpr Index kBlock = 4096;  // coordinates: sums of a block stay in the first cache

void over_blocks(Index count, unsigned threads, const std::function<void(Index, Index)>& work) {
  Observer quiet;
  parallel_blocks({"design", static_cast<std::uint64_t>(count), kBlock, threads}, quiet,
                  [&](std::uint64_t first, std::uint64_t last) {
                    work(static_cast<Index>(first), static_cast<Index>(last - first));
                  });
}

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// sum_k w_k c_k c_k^T over blocks of differences that do not depend on the threads.
MatrixXd weighted_moments(const MatrixXd& coordinates, const VectorXd& weights, unsigned threads) {
  const Index count = coordinates.rows();
  const Index size = coordinates.cols();
  const Index block = std::max<Index>(256, (count + 15) / 16);
  std::vector<MatrixXd> parts(static_cast<std::size_t>((count + block - 1) / block));
  Observer quiet;
  parallel_blocks(
      {"design", static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(block), threads},
      quiet, [&](std::uint64_t first, std::uint64_t last) {
        const Index from = static_cast<Index>(first);
        const Index rows = static_cast<Index>(last - first);
        const MatrixXd scaled = weights.segment(from, rows).cwiseSqrt().asDiagonal() *
                                coordinates.middleRows(from, rows);
        MatrixXd part = MatrixXd::Zero(size, size);
        part.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
        parts[first / static_cast<std::uint64_t>(block)] = std::move(part);
      });
  MatrixXd moments = MatrixXd::Zero(size, size);
  for (const MatrixXd& part : parts) moments += part;
  moments.triangularView<Eigen::StrictlyUpper>() = moments.transpose();
  return moments;
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

SpectralNoise spectral_noise(const MatrixXd& moments, const SpectralSpace& space) {
  const SymmetricEigen eigen(moments);
  const Index r = moments.rows();
  const double largest = std::max(eigen.eigenvalues()(r - 1), 0.0);
  const double rho = space.regularisation;
  const bool rest = space.rest > 0;
  const double count = static_cast<double>(space.rest);
  const Index items = r + (rest ? 1 : 0);

  // Where the true eigenvalue is zero or lost in rounding, noise that is a little too strong does no
  // harm; the lower bound takes eigenvalues that are a little too small.
  const double doubt = 4.0 * kEpsilon * std::sqrt(static_cast<double>(r)) * largest;
  SpectralNoise noise;
  noise.moments = eigen.eigenvalues().cwiseMax(kEpsilon * largest).array() + rho;
  VectorXd roots(items), low(items), floors = VectorXd::Constant(items, space.floor);
  roots.head(r) = noise.moments.cwiseSqrt();
  low.head(r) = ((eigen.eigenvalues().array() - doubt).max(0.0) + rho).sqrt();
  if (rest) {  // `count` equal items are one: root, floor and share all grow by the count
    roots(r) = low(r) = count * std::sqrt(rho);
    floors(r) = count * space.floor;
  }
  noise.spread = spread_budget(roots, floors, space.budget);
  noise.directions = eigen.eigenvectors();
  noise.variances = noise.spread.shares.head(r);
  noise.rest = rest ? noise.spread.shares(r) / count : 0.0;
  noise.cost = noise.spread.cost;
  noise.lower_bound = spread_budget(low, floors, space.budget).cost * (1.0 - 1e-14);
  noise.regularising =
      rho > 0.0 ? rho * (noise.variances.cwiseInverse().sum() + (rest ? count / noise.rest : 0.0))
                : 0.0;
  return noise;
}

SpectralDual::SpectralDual(const MatrixXd& coordinates, const SpectralSpace& space,
                           unsigned threads)
    : coordinates_(coordinates),
      space_(space),
      threads_(threads),
      turned_(coordinates.rows(), coordinates.cols()) {}

DualProblem::Point SpectralDual::evaluate(const VectorXd& weights) {
  noise_ = spectral_noise(weighted_moments(coordinates_, weights, threads_), space_);
  VectorXd costs(count());
  const VectorXd inverse = noise_.variances.cwiseInverse();
  Observer quiet;
  parallel_blocks({"design", static_cast<std::uint64_t>(count()), 128, threads_}, quiet,
                  [&](std::uint64_t first, std::uint64_t last) {
                    const Index from = static_cast<Index>(first);
                    const Index rows = static_cast<Index>(last - first);
                    turned_.middleRows(from, rows).noalias() =
                        coordinates_.middleRows(from, rows) * noise_.directions;
                    costs.segment(from, rows) =
                        turned_.middleRows(from, rows).cwiseAbs2() * inverse;
                  });
  costs.array() += noise_.regularising;
  return {noise_.cost, noise_.lower_bound, std::move(costs)};
}

MatrixXd SpectralDual::curvature(const std::vector<Index>& active) const {
  // Sigma^{-1} = f(G) with f(g) = nu / sqrt(g) above the floor and 1 / floor at it; its derivative at a
  // fixed level nu multiplies the entries of dG between eigenvectors by the divided differences of f.
  const Index r = noise_.moments.size();
  const double nu = noise_.spread.level;
  const double rho = space_.regularisation;
  const VectorXd root = noise_.moments.cwiseSqrt();
  const auto free = [&](Index i) { return !noise_.spread.at_floor(i); };
  const auto slope_at = [&](Index i) { return free(i) ? 0.5 * nu / std::pow(root(i), 3) : 0.0; };
  const auto fall = [&](Index i, Index j) {  // minus the divided difference
    if (free(i) && free(j)) return nu / (root(i) * root(j) * (root(i) + root(j)));
    if (!free(i) && !free(j)) return 0.0;
    const double distance = noise_.moments(i) - noise_.moments(j);
    if (std::abs(distance) <= 1e-8 * noise_.moments(i)) return std::max(slope_at(i), slope_at(j));
    return std::max(0.0, (1.0 / noise_.variances(j) - 1.0 / noise_.variances(i)) / distance);
  };
  struct Entry {
    Index i, j;
    double scale;
  };
  std::vector<Entry> entries;
  for (Index j = 0; j < r; ++j) {
    for (Index i = 0; i <= j; ++i) {
      const double f = fall(i, j);
      if (f > 0.0) entries.push_back({i, j, std::sqrt(i == j ? f : 2.0 * f)});
    }
  }
  const Index rows = static_cast<Index>(active.size());
  const MatrixXd along = turned_(active, Eigen::all);
  MatrixXd bend = -chunked_gram(
      rows, static_cast<Index>(entries.size()),
      [&](Index first, Index first_row, Index last_row, MatrixXd& chunk) {
        const Index length = last_row - first_row;
        for (Index c = 0; c < chunk.cols(); ++c) {
          const Entry& e = entries[static_cast<std::size_t>(first + c)];
          chunk.col(c).segment(first_row, length) =
              e.scale * along.col(e.i).segment(first_row, length).array() *
              along.col(e.j).segment(first_row, length).array();
        }
      },
      threads_);

  // rho I belongs to every difference, so that D is of degree one.
  VectorXd diagonal(r), inverse_root(r);
  for (Index i = 0; i < r; ++i) {
    diagonal(i) = slope_at(i);
    inverse_root(i) = free(i) ? 1.0 / root(i) : 0.0;
  }
  const bool free_rest = rho > 0.0 && space_.rest > 0 && free(r);
  const double rest = static_cast<double>(space_.rest);
  const MatrixXd squares = along.cwiseAbs2();
  if (rho > 0.0) {
    const double own = diagonal.sum() + (free_rest ? rest * 0.5 * nu / std::pow(rho, 1.5) : 0.0);
    const VectorXd cross = rho * (squares * diagonal).array() + 0.5 * rho * rho * own;
    bend.colwise() -= cross;
    bend.rowwise() -= cross.transpose();
  }
  if (noise_.spread.free_budget > 0.0) {  // the level moves too
    const double constant = rho * inverse_root.sum() + (free_rest ? rest * std::sqrt(rho) : 0.0);
    const VectorXd level = (squares * inverse_root).array() + constant;
    bend += (0.5 / noise_.spread.free_budget) * level * level.transpose();
  }
  return bend;
}

}  // namespace sfumato
