#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/fit/public_table.hpp"

namespace sfumato {

/// How a private fit is made (Spec §22).
enum class FitMechanism {
  whitened,      ///< noisy descent in a metric that was released first: anisotropic noise (§22.4)
  isotropic,     ///< noisy descent in the features as they are
  statistics,    ///< ridge regression from noisy second moments (§22.3)
  last_iterate,  ///< noisy descent of bounded rows of which only the last iterate is shown (§22.5)
  minimiser,  ///< the minimiser of a regularised loss plus noise shaped by a released metric (§22.6)
};
/// "whitened", "isotropic", "statistics", "last_iterate" or "minimiser".
[[nodiscard]] std::string_view name(FitMechanism mechanism);

/// What may be set of a mechanism. Defaults depend on public quantities alone: N, the number of parameters, mu, declared bounds.
struct FitSettings {
  std::optional<double> range_share =
      {};  ///< of mu^2, for narrower ranges; 0: as they are declared
  double interval_share =
      0.0;  ///< of mu^2, for the curvature that intervals of a logistic regression need
  std::optional<double> metric_share = {};          ///< rho: of the rest, for the second moments
  std::optional<double> metric_ridge = {};          ///< kappa: in units of the edge of the noise
  std::optional<std::uint64_t> metric_rounds = {};  ///< releases of second moments
  std::optional<std::uint64_t> steps = {};
  std::optional<std::uint64_t> average_last = {};
  std::optional<double> learning_rate = {};
  std::optional<double> clip_factor = {};  ///< gamma
  std::optional<double> ridge = {};        ///< of `last_iterate` and `minimiser`
  NoiseMode noise_mode = NoiseMode::grid;
  double holdout = 0.1;  ///< share of the rows kept from the fit, to estimate its accuracy; 0: none
};

/// One thing that is released about the table.
struct FitRelease {
  std::string name;  ///< "second moments, 3 rounds", "24 gradient sums"
  PrivateRelease release;
  double mu;  ///< of Gaussian privacy, all steps together
};

/// Everything that is decided before the table is opened.
struct FitPlan {
  FitModel model;
  FitMechanism mechanism;
  double mu;                           ///< of everything that reads one record, of Gaussian privacy
  double range_share, interval_share;  ///< of mu^2
  double rows;                         ///< N of the fitted part
  double bound;                        ///< of the rows' norm
  double holdout;
  double metric_share, metric_ridge;
  std::uint64_t metric_rounds;  ///< releases of second moments; 0 where there are none
  double
      rows_in_metric;   ///< rows of the second and later ones, in roots of the effective dimensions
  double metric_floor;  ///< of P^{-1}, for each effective dimension
  std::uint64_t steps, average_last;
  double learning_rate, clip_factor, ridge;
  double noise_multiplier;  ///< of a step
  NoiseMode noise_mode;
  std::vector<FitRelease> releases;  ///< that read the fitted rows

  [[nodiscard]] double range_mu() const;     ///< of the ranges; 0 where they stay as declared
  [[nodiscard]] double interval_mu() const;  ///< of the curvature; 0 where it is not released
  [[nodiscard]] double fit_mu() const;       ///< of all the rest
  [[nodiscard]] double moments_mu() const;   ///< of the second moments; 0 where none are released
  [[nodiscard]] double round_mu() const;     ///< of one release of them
};

/// What a fit may spend, and what else was spent on the same records.
struct FitBudget {
  PrivacyBudget target;
  std::vector<PrivateRelease> before = {};
  double share = 1.0;  ///< of mu^2, for this fit: one of several
};

/// Rows are no longer than so many roots of the effective dimensions when their second moments are released again (Spec §22.4): a row of normal
/// features of mean square 1 is about one root long, and one in a thousand longer than 1.5 where there are ten. Longer where gradients are clipped
/// later than usual, so that rows far out which pull in the descent are in its metric.
inline constexpr double kRowsInMetric = 1.5;
/// The ridge of a metric in which rows are only shortened, over that of the metric of the descent.
inline constexpr double kEarlyRidge = 0.5;

/// The mechanisms that a model can be fitted by, and one's reason against another.
[[nodiscard]] std::vector<FitMechanism> mechanisms_of(FitModel model, NoiseMode mode);

/// Those that a table of so many rows can be fitted by, too.
[[nodiscard]] std::vector<FitMechanism> mechanisms_for(const PublicTable& table, FitModel model,
                                                       const FitSettings& settings);

/// Spends the budget as the mechanism asks. Its releases, with those before, meet the target.
/// Throws   InvalidArgument where the mechanism does not fit the model or the noise (the reason is said, and what would be valid), the
///          settings contradict each other, or nothing is left of the budget.
[[nodiscard]] FitPlan plan_fit(const PublicTable& table, FitModel model, FitMechanism mechanism,
                               const FitSettings& settings, const FitBudget& budget);

/// An accountant of everything: what was before and the fit.
[[nodiscard]] Accountant accountant_of(const FitPlan& plan, const PublicTable& table,
                                       const FitBudget& budget);

/// What the fit is expected to lose against one without noise, from public quantities and an imagined spectrum: half mean squared error over half the
/// variance of the target, or the same for the logits of classes. An order of magnitude (Spec §22.4, §22.7).
[[nodiscard]] double predicted_loss(const FitPlan& plan, const PublicTable& table);

/// The mechanism of least predicted loss; `whitened` unless another one is better by more than nobody would see (Spec §22.7).
[[nodiscard]] FitMechanism choose_mechanism(const PublicTable& table, FitModel model,
                                            const FitSettings& settings, const FitBudget& budget);

}  // namespace sfumato
