#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/problem/quadratic.hpp"

namespace sfumato::apps {

/// The quadratic study of the paper (Spec §13.3): A = diag(c, 1), x0 = 0, x* = (1, 1) and noise
/// Sigma^{1/2} = diag(x, y). How much of the trade-off between KL and error does unequal noise save?
/// The first axis is the sharp one, the second the flat one.
inline constexpr std::array<double, 2> kFigure3Conditions = {10.0, 100.0};
inline constexpr double kFigure3Time = 100.0;  ///< the paper's; stationary to rounding
/// E|x_t - x*|^2 at which noises are compared. Ratios for pure shifts do not depend on it; those for
/// removed rows do, and those of Spec §13.3 are at this value.
inline constexpr double kFigure3Error = 0.5;

/// What differs between D and D'. The paper does not say; the answer depends on it.
enum class QuadraticDifference {
  minimiser_shift,  ///< x'* = x* + 0.1 (1, 1)
  gradient_shift,   ///< x'* = x* + A^{-1} 0.1 (1, 1): the gradients differ by 0.1 (1, 1)
  sharp_shift,      ///< x'* = x* + 0.1 (1, 0)
  flat_shift,       ///< x'* = x* + 0.1 (0, 1)
  curvature,        ///< A' = 0.9 A, x'* = x*
  sharp_row,        ///< D' lacks a row of leverage 0.1 along the sharp axis, residual 0.5
  generic_row,      ///< D' lacks the row A^{1/2} (1, 1) of leverage 0.1, residual 0.5
};
inline constexpr std::array kQuadraticDifferences = {
    QuadraticDifference::minimiser_shift, QuadraticDifference::gradient_shift,
    QuadraticDifference::sharp_shift,     QuadraticDifference::flat_shift,
    QuadraticDifference::curvature,       QuadraticDifference::sharp_row,
    QuadraticDifference::generic_row};

/// "minimiser_shift", ...: for programs and file names.
[[nodiscard]] std::string_view name(QuadraticDifference difference);

struct QuadraticPair {
  QuadraticLoss d;
  QuadraticLoss d_prime;
  Eigen::Vector2d minimiser;  ///< x* of d
};

/// The pair for A = diag(condition_number, 1).
///
/// A removed row b with label y is a term 1/2 (b.x - y)^2 of d: its leverage is b^T A^{-1} b, its
/// residual b.x* - y.
/// Throws   InvalidArgument unless condition_number is finite and positive.
[[nodiscard]] QuadraticPair quadratic_pair(QuadraticDifference difference, double condition_number);

/// What a noise costs and hides at `time`, exact up to rounding.
struct NoiseEffect {
  double error;       ///< E|x_t - x*|^2 when trained on D
  double kl_forward;  ///< KL(D || D') in nats; +inf for a singular noise that misses a difference
  double kl_reverse;
};
/// `variances` is the diagonal of Sigma (squares of the paper's x and y), zero or more each.
[[nodiscard]] NoiseEffect noise_effect(const QuadraticPair& pair, const Eigen::Vector2d& variances,
                                       double time = kFigure3Time);

/// Isotropic noise against the best diagonal noise of the same error.
struct EqualErrorGain {
  double isotropic_variance;
  double kl_isotropic;
  Eigen::Vector2d best_variances;
  double kl_best;
  double gain;  ///< kl_isotropic / kl_best, at least 1
  /// The KL only approaches kl_best as the noise along one axis vanishes; a difference along that axis
  /// would then be plain to see.
  [[nodiscard]] bool is_degenerate() const { return best_variances.minCoeff() == 0.0; }
};

/// Minimises the exact KL over the diagonal noises with E|x_t - x*|^2 = error, along which the share
/// of the error that each axis bears is the only freedom: scan, then Brent, then the limits at both
/// ends (where one axis has no noise). Isotropic noise is kept unless another gains more than
/// rounding, 1e-12.
///
/// The KLs are exact for the noises returned. That no better noise exists is a numerical finding,
/// checked by tests; for stationary distributions with diagonal A' it agrees with stationary_gain.
/// Throws   InvalidArgument if `error` is not finite or not above the bias |m_t - x*|^2.
[[nodiscard]] EqualErrorGain gain_at_equal_error(const QuadraticPair& pair, double error,
                                                 Direction direction, double time = kFigure3Time);

/// The gain of KL(D || D') at t = inf, in closed form where A and A' are diagonal; else empty.
///
///   KL = 1/2 sum psi(l'_i / l_i) + sum g_i / v_i,  g_i = l'_i dm_i^2,  error = sum w_i v_i,
///   w_i = 1/(2 l_i).  Least: (sum sqrt(w_i g_i))^2 / error (Spec §9.1); isotropic:
///   (sum g_i)(sum w_i) / error.  Equal curvatures give the formulas of Spec §13.3.
[[nodiscard]] std::optional<double> stationary_gain(const QuadraticPair& pair, double error);

/// Root mean square over x_t (trained on D) of each component of grad f' - grad f: how sharp the
/// difference of the two losses is along each axis.
[[nodiscard]] Eigen::Vector2d gradient_difference(const QuadraticPair& pair,
                                                  const Eigen::Vector2d& variances,
                                                  double time = kFigure3Time);

/// A rule for the noise, and what it gives at one error.
struct RuleOutcome {
  Eigen::Vector2d variances;
  double kl;  ///< KL(D || D')
};

/// Diagonal noise by the two designs that see gradient differences only (Spec §9.1, for
/// gradient_difference at isotropic noise), scaled to the error of the others.
struct DesignedNoise {
  RuleOutcome paper;     ///< for a given tr Sigma, which the paper takes for the error
  RuleOutcome distance;  ///< for a given tr(A^{-1} Sigma)/2, which is the error in the long run
};
[[nodiscard]] DesignedNoise designed_noise(const QuadraticPair& pair, double error,
                                           double time = kFigure3Time);

/// One point of the noise plane: noise diag(x, y) dW.
struct PlanePoint {
  double x;
  double y;
  NoiseEffect effect;
};
/// The grid x, y in [0.1, 5] with `intervals` steps per axis; y runs fastest.
[[nodiscard]] std::vector<PlanePoint> noise_plane(const QuadraticPair& pair, int intervals);

/// One point of the line x = y, and the best that diagonal noise does at the same error.
struct LinePoint {
  double x;
  NoiseEffect isotropic;
  EqualErrorGain forward;  ///< of KL(D || D')
};
[[nodiscard]] std::vector<LinePoint> isotropic_line(const QuadraticPair& pair, int intervals);

}  // namespace sfumato::apps
