#pragma once

#include <Eigen/Core>
#include <vector>

#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/fokker_planck/grid.hpp"

namespace sfumato {

/// B(w) = w / (e^w - 1), B(0) = 1: the weight of the Scharfetter-Gummel flux (Spec §12.3).
/// Positive and full-precision everywhere (until it underflows near w = 750).
[[nodiscard]] double bernoulli_function(double w);

/// Coefficients at the interior faces of one axis, in the storage order of the grid with one cell
/// fewer along the axis.
struct FaceCoefficients {
  Eigen::ArrayXd flux_drift;  ///< h_k = b_k - (1/2) d Sigma_kk / d x_k  (Spec §6.1)
  Eigen::ArrayXd variance;    ///< Sigma_kk > 0
};

/// The faces of every axis, at one time.
struct Coefficients {
  std::vector<FaceCoefficients> axes;
  [[nodiscard]] bool operator==(const Coefficients& other) const;
};

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

/// The drift and diagonal of the noise of one diffusion, sampled at the faces of a grid.
class FaceSampler {
 public:
  /// Throws  InvalidArgument if the diffusion's dimension is not the grid's or, in two dimensions, a
  ///         constant Sigma is not diagonal (diagonalise first).
  FaceSampler(const Diffusion& diffusion, const Grid& grid);

  /// Throws  InvalidArgument where a coefficient is not finite, Sigma is not positive or a Sigma(x)
  ///         is not diagonal, with the point.
  [[nodiscard]] Coefficients at(double time) const;

 private:
  Diffusion diffusion_;
  std::vector<Points> faces_;  ///< per axis
};

/// b, Sigma_kk and the divergence of Sigma at some points; row j belongs to point j.
struct PointCoefficients {
  Points drift;
  Points variances;
  Points divergence;
};

/// Throws  as FaceSampler::at.
[[nodiscard]] PointCoefficients sample(const Diffusion& diffusion, double time,
                                       const Points& points);

}  // namespace sfumato
