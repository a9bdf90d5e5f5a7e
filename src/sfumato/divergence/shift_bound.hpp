#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "sfumato/math/covariance.hpp"

namespace sfumato {

/// Bounds on KL(p_t || q_t) from how far apart two drifts are over time, for any pair of constant noises (Spec §27.3).
/// The second process is steered into the first: the cheapest control that ends in time is a taut string.

/// The greatest convex minorant of a path, and what it costs.
struct ShiftHull {
  double bound;                ///< 1/2 integral of the squared slope
  std::vector<double> slopes;  ///< of every cell
};

/// The taut string through cells of clock time `tau` in which the path rises by `length`, by pooling adjacent cells;
/// `initial_distance` is already multiplied by e^{-kappa t}. Cells with neither are skipped.
///
/// Throws   InvalidArgument if the lists differ in length or are empty, an entry is negative or not finite, or a cell
///          rises without clock time.
[[nodiscard]] ShiftHull shift_hull(const std::vector<double>& tau,
                                   const std::vector<double>& length, double initial_distance);

/// Spec §27.3 (4): KL(p_t || q_t) for  delta_i >= |b~ - b'|_{L2(p_s), N}  on the cells times[i] <= s <= times[i+1], a
/// second drift that contracts at rate kappa (negative allowed) in |.|_N, and starts at distance `initial_distance`
/// in W_2 of |.|_N.
///
/// Throws   InvalidArgument if times do not ascend, sizes do not fit, a number is negative or not finite.
[[nodiscard]] double shift_bound(const std::vector<double>& times, const std::vector<double>& delta,
                                 double kappa, double initial_distance);

/// delta_s as a function of time, and how fast it may change.
struct ShiftRate {
  std::function<double(double time)> at;
  double
      start_scale;  ///< shortest time in which it changes near 0; it may grow like s^{-1/2} there
  double limit;     ///< as s -> inf; +inf or NaN where unknown
};

/// Spec §27.3 (2) by exact integrals of delta over cells that are halved until the bound stands still; what the last
/// halving changed is added. `time` may be +inf, where kappa > 0 leaves limit^2 / kappa. The distance is that at time 0.
///
/// Edges    +inf where delta is not finite, and at +inf unless kappa > 0 and the limit is finite.
[[nodiscard]] double shift_bound(const ShiftRate& rate, double kappa, double time,
                                 double initial_distance = 0.0);

/// Two Brownian motions from one point: their KL and the bound (27.3 (3)), both the same at all times.
struct PointStartNoise {
  double kl;
  double bound;
};
/// Throws   NumericalFailure if a covariance is singular.
[[nodiscard]] PointStartNoise point_start_noise(const Covariance& noise,
                                                const Covariance& noise_prime);

}  // namespace sfumato
