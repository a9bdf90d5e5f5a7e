#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/fokker_planck/grid.hpp"

namespace sfumato {

/// B(w) = w / (e^w - 1), B(0) = 1: the weight of the flux of [ScharfetterGummel1969], which is also that
/// of [ChangCooper1970] (Spec §12.3).
/// Positive and full-precision everywhere (until it underflows near w = 750).
[[nodiscard]] double bernoulli_function(double w);

/// Coefficients at the interior faces of one axis, in the storage order of the grid with one cell
/// fewer along the axis.
struct FaceCoefficients {
  Eigen::ArrayXd flux_drift;  ///< h_k = b_k - (1/2) d Sigma_kk / d x_k  (Spec §6.1)
  Eigen::ArrayXd variance;    ///< Sigma_kk > 0
};

/// The faces of every axis, at one time.
using Coefficients = std::vector<FaceCoefficients>;

/// Rates at which mass jumps over the faces of one axis: the finite-volume Fokker-Planck equation is
/// a Markov chain on the cells. Same order as the face coefficients.
///
///   Spec §12.3:   up = (D/dx^2) B(-w),  down = (D/dx^2) B(w),  D = Sigma/2,  w = h dx / D
///
/// All rates are >= 0 and what leaves one cell enters the next, so that the generator has
/// non-negative off-diagonals and columns that sum to zero. Second order in dx, and exact for the
/// stationary density wherever h / Sigma is constant over a cell.
struct JumpRates {
  Eigen::ArrayXd up;    ///< from the cell below the face to the one above
  Eigen::ArrayXd down;  ///< the way back
};
[[nodiscard]] JumpRates jump_rates(const FaceCoefficients& faces, double width);

/// The root mean square, under a density, of w = h dx / D at the faces; the largest over the axes.
/// The flux adds about w^2 / 12 of the diffusion: well below 1 the grid resolves the drift, above it
/// is an upwind scheme and far from its second order.
[[nodiscard]] double cell_peclet_number(const Grid& grid, const Coefficients& coefficients,
                                        const Eigen::ArrayXd& density);

/// b, Sigma_kk and the divergence of Sigma at some points; row j belongs to point j.
struct PointCoefficients {
  Points drift;
  Points variances;
  Points divergence;  ///< empty where Sigma is constant
};

/// Throws  as FaceSampler::at.
[[nodiscard]] PointCoefficients sample(const Diffusion& diffusion, double time,
                                       const Points& points);

/// The drift and diagonal of the noise of one diffusion, sampled at the faces of a grid.
class FaceSampler {
 public:
  /// Throws  InvalidArgument if the diffusion's dimension is not the grid's or, in two dimensions, a
  ///         constant Sigma is not diagonal (diagonalise first).
  FaceSampler(const Diffusion& diffusion, const Grid& grid);

  /// The coefficients at `time`; the same object as before where no value has changed. Unless the
  /// diffusion is known to be autonomous that is found by evaluating them: a schedule cannot be
  /// missed.
  ///
  /// Throws  InvalidArgument where a coefficient is not finite, Sigma is not positive or a Sigma(x)
  ///         is not diagonal, with the point.
  [[nodiscard]] const std::shared_ptr<const Coefficients>& at(double time);

 private:
  Diffusion diffusion_;
  std::vector<Points> faces_;               ///< per axis
  std::vector<PointCoefficients> sampled_;  ///< per axis, what coefficients_ was made from
  PointCoefficients scratch_;
  std::shared_ptr<const Coefficients> coefficients_;
};

}  // namespace sfumato
