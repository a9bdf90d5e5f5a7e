#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// An interval cut into cells of equal width.
struct GridAxis {
  double lower;
  double upper;
  Eigen::Index cells;

  [[nodiscard]] double width() const { return (upper - lower) / static_cast<double>(cells); }
  [[nodiscard]] double center(Eigen::Index i) const {
    return lower + (static_cast<double>(i) + 0.5) * width();
  }
  /// Between cells i and i + 1.
  [[nodiscard]] double face(Eigen::Index i) const {
    return lower + static_cast<double>(i + 1) * width();
  }
};

/// Cells on a product of one or two axes (Spec §12.3, §12.4).
///
/// A density on the grid is an array of one value per cell, the last axis fastest: cell (i, j) of
/// two axes is entry i * axis(1).cells + j.
class Grid {
 public:
  /// Throws InvalidArgument unless there are one or two axes, each finite with lower < upper and at
  /// least 4 cells.
  explicit Grid(std::vector<GridAxis> axes);
  /// The same number of cells on every axis.
  Grid(const std::vector<Interval>& domain, Eigen::Index cells_per_axis);

  [[nodiscard]] Eigen::Index dimension() const { return static_cast<Eigen::Index>(axes_.size()); }
  [[nodiscard]] const GridAxis& axis(Eigen::Index k) const {
    return axes_[static_cast<std::size_t>(k)];
  }
  /// Number of cells.
  [[nodiscard]] Eigen::Index size() const;
  /// Of one cell.
  [[nodiscard]] double volume() const;
  /// The cell after cell c along axis k is c + stride(k).
  [[nodiscard]] Eigen::Index stride(Eigen::Index k) const {
    return k + 1 < dimension() ? axes_.back().cells : 1;
  }

 private:
  std::vector<GridAxis> axes_;
};

/// Mass of a density: sum times volume.
[[nodiscard]] double mass(const Grid& grid, const Eigen::ArrayXd& density);

/// Mass in the outermost fiftieth of the domain at either end of any axis: what a no-flux boundary
/// may have pushed back.
[[nodiscard]] double boundary_mass(const Grid& grid, const Eigen::ArrayXd& density);

/// The normal density at the cell centres, scaled to mass 1 on the grid.
///
/// Throws  InvalidArgument if the sizes differ or the distribution is narrower than a cell in some direction
///         (as a point is), or if part of it lies outside the grid.
[[nodiscard]] Eigen::ArrayXd gaussian_density(const Grid& grid,
                                              const GaussianDistribution& distribution);

}  // namespace sfumato
