#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/law.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

/// The weights that noisy gradient flow has reached, in continuous time (Spec §5).
struct FlowRelease {
  double time;       ///< >= 0; +inf for the stationary law
  Covariance noise;  ///< Sigma, the diffusion covariance (Spec §1.1)
  GaussianLaw start;
};

/// The exact minimiser plus one draw of N(0, noise).
struct MinimiserRelease {
  Covariance noise;
};

using Release = std::variant<FlowRelease, MinimiserRelease>;

struct RowRiskOptions {
  Release release;
  /// What D' has in the row's place; none: D' is D without the row.
  std::optional<Record> replacement;
  std::vector<Epsilon> epsilons;  ///< where to give delta
  Delta delta{1e-5};              ///< where to give epsilon
  unsigned threads = 0;           ///< 0: as many as the machine has
};

enum class RowStatus {
  ok,
  no_model,      ///< D' has no minimiser or no stationary law: the row alone determines a parameter
  failed,        ///< no trustworthy number; `message` says why
  not_computed,  ///< stopped before its turn
};
[[nodiscard]] std::string_view name(RowStatus status);

/// A number and what it is (Claimed without the words, one table holds many).
struct RiskNumber {
  double value = std::numeric_limits<double>::quiet_NaN();
  Claim claim = Claim::exact;
};

/// Views that depend on the direction; forward is D against D', reverse D' against D.
struct DirectedRisk {
  RiskNumber kl;
  std::vector<RiskNumber> delta;  ///< one for each of RowRiskOptions::epsilons
  RiskNumber epsilon;             ///< at RowRiskOptions::delta
};

/// What the released weights reveal about one row of this table. NaN unless the status is ok.
struct RowRisk {
  Eigen::Index row = 0;
  RowStatus status = RowStatus::not_computed;
  double leverage = std::numeric_limits<double>::quiet_NaN();  ///< RidgeProblem::leverage
  RiskNumber advantage;                                        ///< total variation
  DirectedRisk forward;
  DirectedRisk reverse;
  bool used_rank_tolerance = false;  ///< a rank was decided by rounding (Spec §2)
  std::string message;
};

/// The risk of every row: the two laws of the release with and without it, compared exactly.
///
/// These are risks of these rows under this table. They are no differential-privacy guarantee, which
/// speaks of all tables, and they are themselves sensitive.
///
/// Cost     linear in rows, O(p^2) for each with flow at +inf, isotropic noise and a loss whose
///          other terms stay (changes_rows_only), else O(p^3); the divergences come on top. The
///          result does not depend on `threads`.
/// Stops    when the observer asks; the remaining rows are not_computed.
/// Throws   InvalidArgument for noise, start or replacement of the wrong size, a noise that is not a
///          covariance, time < 0 or NaN; NumericalFailure if the whole table has no minimiser (or
///          no stationary law) where one is needed.
[[nodiscard]] std::vector<RowRisk> row_risks(const RidgeProblem& problem,
                                             const RowRiskOptions& options, Observer& observer);

}  // namespace sfumato
