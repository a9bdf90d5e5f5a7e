#include "sfumato/sde/fokker_planck/grid.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfumato/core/check.hpp"
#include "sfumato/math/symmetric_eigen.hpp"

namespace sfumato {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The midpoint sum of a normal density of standard deviation s over cells of width w misses 1 by
// 2 exp(-2 pi^2 s^2 / w^2): 5e-9 at s = w. What is lost beyond that is outside the grid.
constexpr double kLostMass = 1e-7;

std::vector<GridAxis> axes_from(const std::vector<Interval>& domain, Index cells) {
  std::vector<GridAxis> axes;
  axes.reserve(domain.size());
  for (const Interval& side : domain) axes.push_back({side.lower, side.upper, cells});
  return axes;
}

}  // namespace

Grid::Grid(std::vector<GridAxis> axes) : axes_(std::move(axes)) {
  if (axes_.empty() || axes_.size() > 2) {
    throw InvalidArgument(fmt::format("a grid with {} axes", axes_.size()),
                          "Fokker-Planck grids have 1 or 2; use simulation above that");
  }
  for (const GridAxis& axis : axes_) {
    if (!(std::isfinite(axis.lower) && std::isfinite(axis.upper) && axis.lower < axis.upper)) {
      throw InvalidArgument(fmt::format("[{}, {}] is not an interval", axis.lower, axis.upper),
                            "Give finite ends, the lower one first");
    }
    if (axis.cells < 4) {
      throw InvalidArgument(fmt::format("{} cells on an axis", axis.cells), "Use at least 4");
    }
  }
}

Grid::Grid(const std::vector<Interval>& domain, Index cells_per_axis)
    : Grid(axes_from(domain, cells_per_axis)) {}

Index Grid::size() const {
  Index size = 1;
  for (const GridAxis& axis : axes_) size *= axis.cells;
  return size;
}

double Grid::volume() const {
  double volume = 1.0;
  for (const GridAxis& axis : axes_) volume *= axis.width();
  return volume;
}

double mass(const Grid& grid, const ArrayXd& density) { return density.sum() * grid.volume(); }

double boundary_mass(const Grid& grid, const ArrayXd& density) {
  const Index columns = grid.axis(grid.dimension() - 1).cells;
  const Index rows = grid.size() / columns;
  // The share of cell i that lies in the outermost fiftieth at either end.
  const auto outer_share = [](Index i, Index cells) {
    const double margin = static_cast<double>(cells) / 50.0;
    const auto from_end = static_cast<double>(std::min(i, cells - 1 - i));
    return std::clamp(margin - from_end, 0.0, 1.0);
  };
  double sum = 0.0;
  for (Index i = 0; i < rows; ++i) {
    const double row_share = rows > 1 ? outer_share(i, rows) : 0.0;
    for (Index j = 0; j < columns; ++j) {
      sum += std::max(row_share, outer_share(j, columns)) * density(i * columns + j);
    }
  }
  return sum * grid.volume();
}

ArrayXd gaussian_density(const Grid& grid, const GaussianDistribution& distribution) {
  const Index d = grid.dimension();
  require_size("distribution.mean", distribution.mean.size(), d);
  require_size("distribution.covariance", dimension(distribution.covariance), d);
  // In units of cells: the narrowest direction of a correlated start may lie between the axes.
  VectorXd widths(d);
  for (Index k = 0; k < d; ++k) widths(k) = grid.axis(k).width();
  const MatrixXd covariance = dense(distribution.covariance);
  const VectorXd inverse = widths.cwiseInverse();
  const MatrixXd in_cells = inverse.asDiagonal() * covariance * inverse.asDiagonal();
  const SymmetricEigen eigen(in_cells, SymmetricEigen::Want::values);
  const double narrowest = std::sqrt(std::max(0.0, eigen.eigenvalues()(0)));
  if (!(narrowest >= 1.0)) {
    throw InvalidArgument(
        fmt::format("the start's narrowest standard deviation is {:.3g} cells of the coarsest grid",
                    narrowest),
        "Use more cells, a smaller domain or a wider start");
  }
  const Eigen::LLT<MatrixXd> factor(covariance);
  double log_scale = 0.5 * static_cast<double>(d) * std::log(2.0 * std::numbers::pi);
  for (Index k = 0; k < d; ++k) log_scale += std::log(factor.matrixLLT()(k, k));

  const Index columns = grid.axis(d - 1).cells;
  const Index rows = grid.size() / columns;
  ArrayXd density(grid.size());
  VectorXd offset(d);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (d == 2) offset(0) = grid.axis(0).center(i) - distribution.mean(0);
      offset(d - 1) = grid.axis(d - 1).center(j) - distribution.mean(d - 1);
      density(i * columns + j) =
          std::exp(-0.5 * factor.matrixL().solve(offset).squaredNorm() - log_scale);
    }
  }
  // Densities at centres add up to one but for the tails and the rule's error; both must be small before they are divided away.
  const double found = mass(grid, density);
  if (!(std::abs(found - 1.0) <= kLostMass)) {
    throw InvalidArgument(fmt::format("the start has mass {:.9g} on the grid, not 1", found),
                          "Enlarge the domain so that it holds the whole start");
  }
  return density / found;
}

}  // namespace sfumato
