#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/nn/exact_gradient.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/math/lanczos.hpp"

namespace sfumato::lab {

/// How flat the loss is around a model, and how far a record moves its gradient (Spec §10, "Flatness
/// quantities"). All describe one model and are estimates: no guarantee follows from them. Hessians
/// are those of exact_gradient.hpp.
///
/// All throw   InvalidArgument as exact_gradient.hpp and lanczos.hpp do, NumericalFailure where a
///             derivative is not finite.

/// tr H of the training loss by Hutchinson: the mean of v^T H v over `probes` vectors v of random
/// signs, with its standard error (+inf for one probe). Unbiased; a pure function of the seed.
/// Throws   InvalidArgument also for no probes.
[[nodiscard]] Claimed<MonteCarloMean> hessian_trace(const Network& network,
                                                    std::span<const double> parameters,
                                                    std::span<const LabelledRecord> records,
                                                    LossScale scale, std::uint64_t probes,
                                                    std::uint64_t seed);

struct SpectralEstimate {
  double value;           ///< from below: what Lanczos finds never exceeds the largest
  double residual;        ///< some eigenvalue (or singular value) is this close to it
  Eigen::Index products;  ///< with the matrix
  bool converged;
};

/// The largest eigenvalue of H with its sign (a saddle's most negative one may be larger in size).
[[nodiscard]] Claimed<SpectralEstimate> largest_hessian_eigenvalue(
    const Network& network, std::span<const double> parameters,
    std::span<const LabelledRecord> records, LossScale scale, const LanczosOptions& options = {});

/// What of a record may move: its values, or its values and the shares of the classes.
enum class RecordMoves { values, values_and_label };

/// |J|_2, the spectral norm of the mixed derivative  J = d/d(record) grad_parameters loss  at a point of
/// record space: how far the gradient of a record moves for a small move of the record.
[[nodiscard]] Claimed<SpectralEstimate> mixed_derivative_norm(const Network& network,
                                                              std::span<const double> parameters,
                                                              std::span<const double> point,
                                                              RecordMoves moves,
                                                              const LanczosOptions& options = {});

/// The gradient difference of a replace-one pair, and the bound that flatness gives for it:
///
///   |grad f(x, D) - grad f(x, D')| = |grad f_l(x, d) - grad f_l(x, d')| <= |d - d'| sup |J|_2
///
/// with the supremum over the segment from d to d'. Records with different labels are compared in
/// their values and label shares together. For the sum of losses; divide by N for the mean.
struct RecordSensitivity {
  double gradient_difference;  ///< exact
  double distance;             ///< |d - d'|
  double largest_norm;         ///< largest |J|_2 over the points that were looked at
  double largest_at;           ///< where: 0 is d, 1 is d'
  double bound;                ///< distance * largest_norm
  bool respected;              ///< gradient_difference <= bound, up to the residuals of the norms
  /// ReLU units and maxima that changed sides between neighbouring points. The gradient jumps there
  /// and the inequality, which needs a derivative on the whole segment, may fail.
  std::uint64_t switches;
  std::vector<double> norms;  ///< |J|_2 at each point
};

/// Looks at `points` >= 2 evenly spaced points of the segment, both ends included; between them the
/// norm may be larger, hence an estimate.
/// Throws   InvalidArgument also for fewer points.
[[nodiscard]] Claimed<RecordSensitivity> record_sensitivity(
    const Network& network, std::span<const double> parameters, const LabelledRecord& record,
    const LabelledRecord& other, int points = 17, const LanczosOptions& options = {});

}  // namespace sfumato::lab
