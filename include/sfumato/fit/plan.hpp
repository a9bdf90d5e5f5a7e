#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/fit/public_table.hpp"

namespace sfumato {

/// A noisy descent as it was planned.
struct PlannedDescent {
  std::uint64_t steps = 0, average_last = 0;
  double learning_rate = 0.0, clip_factor = 0.0;
  double noise_multiplier = 0.0;  ///< of a step
};

/// A metric of second moments that are released first.
struct PlannedMetric {
  double share = 0.0;        ///< rho: of the square of mu
  double ridge = 0.0;        ///< kappa
  std::uint64_t rounds = 0;  ///< releases of second moments
  double rows_in_metric =
      0.0;             ///< rows of the second and later ones, in roots of the effective dimensions
  double floor = 0.0;  ///< of P^{-1}, for each effective dimension
};

/// A mechanism by which a private fit is made (Spec §22): one type each, with what is planned of it and its rules, the answers of fit/mechanism.hpp
/// in a source of its own.
struct MechanismRules;

/// Noisy descent in a metric that was released first: anisotropic noise (§22.4).
struct WhitenedFit {
  PlannedDescent descent = {};
  PlannedMetric metric = {};
  [[nodiscard]] static const MechanismRules& rules();
};
/// Noisy descent in the features as they are.
struct IsotropicFit {
  PlannedDescent descent = {};
  [[nodiscard]] static const MechanismRules& rules();
};
/// Ridge regression from noisy second moments (§22.3).
struct StatisticsFit {
  [[nodiscard]] static const MechanismRules& rules();
};
/// Noisy descent of bounded rows of which only the last iterate is shown (§22.5).
struct LastIterateFit {
  PlannedDescent descent = {};
  double ridge = 0.0;
  [[nodiscard]] static const MechanismRules& rules();
};
/// The minimiser of a regularised loss plus noise shaped by a released metric (§22.6).
struct MinimiserFit {
  PlannedMetric metric = {};
  double ridge = 0.0, clip_factor = 0.0;
  [[nodiscard]] static const MechanismRules& rules();
};
using AnyFit = std::variant<WhitenedFit, IsotropicFit, StatisticsFit, LastIterateFit, MinimiserFit>;

/// A name for each of these, in their order.
enum class FitMechanism { whitened, isotropic, statistics, last_iterate, minimiser };
/// "whitened", "isotropic", "statistics", "last_iterate" or "minimiser".
[[nodiscard]] std::string_view name(FitMechanism mechanism);
/// What it is, in a few words.
[[nodiscard]] std::string_view description(FitMechanism mechanism);
/// All of them.
[[nodiscard]] std::vector<FitMechanism> fit_mechanisms();

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
  AnyFit how;
  double mu;                           ///< of everything that reads one record, of Gaussian privacy
  double range_share, interval_share;  ///< of mu^2
  double rows;                         ///< N of the fitted part
  double bound;                        ///< of the rows' norm
  double holdout;
  NoiseMode noise_mode;
  std::vector<FitRelease> releases;  ///< that read the fitted rows

  [[nodiscard]] double range_mu() const;     ///< of the ranges; 0 where they stay as declared
  [[nodiscard]] double interval_mu() const;  ///< of the curvature; 0 where it is not released
  [[nodiscard]] double fit_mu() const;       ///< of all the rest

  [[nodiscard]] FitMechanism mechanism() const { return static_cast<FitMechanism>(how.index()); }
  /// The descent, the metric, the ridge of mechanisms that have one; else nullptr, and 0.
  [[nodiscard]] const PlannedDescent* descent() const;
  [[nodiscard]] const PlannedMetric* metric() const;
  [[nodiscard]] double ridge() const;
  [[nodiscard]] double moments_mu() const;  ///< of the metric's second moments
  [[nodiscard]] double round_mu() const;    ///< of one release of them
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
