#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/fit/private_fit.hpp"
#include "sfumato/fit/ranges.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// Bits of one key for each of the releases.
enum class FitStream : std::uint64_t {
  parts = 1,
  moments = 2,
  steps = 3,
  held_out = 4,
  ranges = 5,
  curvature = 6,
  selection = 7
};

/// Everything that is public when a fit is planned.
struct FitSetup {
  const PublicTable& table;
  const FitSettings& settings;
  PlannedDescent usual;  ///< as the settings have it, or as is usual for the model
};

/// One fit while it is made: the fitted rows within their bounds, and where noise comes from.
struct FitContext {
  const BoundedRows& rows;
  const PublicTable& table;
  const FitPlan& plan;
  const ReleaseKey& key;
  Observer& observer;

  [[nodiscard]] ReleaseBits bits(FitStream stream) const {
    return ReleaseBits(key, static_cast<std::uint64_t>(stream));
  }
};

/// A fit of a table with one record or none: `made.rows` is what is seen, `canary` the record.
struct CanaryContext {
  FitContext made;
  const BoundedRows& canary;
};

/// The questions that a mechanism answers. One source each, named after it, has all of the answers.
struct MechanismRules {
  std::string_view name, description;
  bool pairs_of_columns;  ///< has matrices over pairs of columns
  RangeMargin margin;     ///< of ranges that are released before
  /// Why a model cannot be fitted by it with such noise, if it cannot; and a table of so many rows.
  std::optional<InvalidArgument> (*refuse)(FitModel, NoiseMode);
  bool (*fits)(const PublicTable&, const FitSettings&);
  /// Decides what the settings leave open, from public quantities; the rest of the plan is known.
  void (*plan)(const FitSetup&, FitPlan*);
  /// Everything that it releases about the fitted rows, in its order.
  std::vector<FitRelease> (*releases)(const FitPlan&, NeighbouringRelation);
  double (*predict)(const FitPlan&, const PublicTable&);  ///< as predicted_loss()
  void (*run)(const FitContext&, PrivateFit*);            ///< sets all but what is held out
  double (*canary)(const CanaryContext&);                 ///< as canary_score()
};
[[nodiscard]] const MechanismRules& rules_of(FitMechanism mechanism);
/// A refusal with its reason.
[[nodiscard]] InvalidArgument unproven(std::string_view mechanism, FitModel model,
                                       const char* reason);

// Parts that several mechanisms have in common.

/// So many Gaussian releases of mu each.
[[nodiscard]] FitRelease gaussian_release(std::string name, double mu_each, std::uint64_t steps,
                                          NeighbouringRelation relation);
/// The rounds of a plan's metric.
[[nodiscard]] FitRelease metric_release(const FitPlan& plan, NeighbouringRelation relation);
/// The steps of a descent on a share of the square of mu.
[[nodiscard]] FitRelease descent_release(const FitPlan& plan, double share,
                                         NeighbouringRelation relation);
/// The clip factors to choose from.
[[nodiscard]] std::vector<double> clip_factors(const FitSettings& settings, const FitPlan& plan);
/// Deviation of a step's noise over its clip, where a share of the square of mu is for second moments.
[[nodiscard]] double step_multiplier(const FitPlan& plan, double share, std::uint64_t steps,
                                     NeighbouringRelation relation);
/// The floor of P^{-1} (for each effective dimension) at which noise of `multiplier` clips moves the prediction of the longest row that there can be by the
/// residual scale: rows far out in directions that are nearly empty would get nothing but noise.
[[nodiscard]] double metric_floor(const FitPlan& plan, double clip_factor, double multiplier);
/// A metric as the settings have it, or as is usual.
[[nodiscard]] PlannedMetric planned_metric(const FitSettings& settings);

/// Releases the metric of a plan, and keeps what it exposes.
[[nodiscard]] ReleasedMetric metric_for(const FitContext& context, PrivateFit* fit);
/// The descent of a plan on rows z in its coordinates; `fit->clip` is known.
[[nodiscard]] Eigen::MatrixXd descend(const RowMajor& z, const FitContext& context,
                                      PrivateFit* fit);

/// log ratio of N(shift, s^2) to N(0, s^2), for a number or independent ones.
[[nodiscard]] double log_ratio(const Eigen::MatrixXd& seen, const Eigen::MatrixXd& shift,
                               double noise_std);
/// The metric, and what each round of moments says about the canary, isotropic in the Frobenius norm (Spec §22.2).
[[nodiscard]] ReleasedMetric metric_with_canary(const CanaryContext& context, double* score);
/// A descent with the canary: what was released of it.
struct CanaryDescent {
  Eigen::MatrixXd last;
  double score;  ///< of all iterates: each sum has the canary's gradient at a known place, or not
};
[[nodiscard]] CanaryDescent descent_with_canary(const CanaryContext& context,
                                                const Eigen::MatrixXd& root, double clip);

}  // namespace sfumato
