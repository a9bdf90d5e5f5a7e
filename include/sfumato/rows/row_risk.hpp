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
#include "sfumato/core/units.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// The weights that noisy gradient flow has reached, in continuous time (Spec §5).
struct FlowRelease {
  double time;       ///< >= 0; +inf for the stationary distribution
  Covariance noise;  ///< Sigma, the diffusion covariance (Spec §1.1)
  GaussianDistribution start;
};

/// The last of `steps` iterates of full-batch noisy gradient descent (Spec §8),
///
///   x <- x - learning_rate grad f(x) + N(0, learning_rate * noise):
///
/// the noise is a covariance per unit of time, one step taking learning_rate, as in the flow that the
/// chain follows when its steps are short.
struct ChainRelease {
  double learning_rate;  ///< > 0
  double steps;          ///< a whole number >= 0; +inf for the stationary distribution
  Covariance noise;      ///< Sigma
  GaussianDistribution start;
};

/// The exact minimiser plus one draw of N(0, noise).
struct MinimiserRelease {
  Covariance noise;
};

using Release = std::variant<FlowRelease, ChainRelease, MinimiserRelease>;

struct RowRiskOptions {
  Release release;
  /// What D' has in the row's place; none: D' is D without the row.
  std::optional<Record> replacement;
  std::vector<Epsilon> epsilons;  ///< where to give delta
  Delta delta{1e-5};              ///< where to give epsilon
  unsigned threads = 0;           ///< 0: as many as the machine has
  /// The rows to compute, each once; the others are not_computed. Empty: all.
  std::vector<Eigen::Index> only = {};
};

enum class RowStatus {
  ok,
  no_model,  ///< D' has no minimiser or no stationary distribution: the row alone determines a parameter
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
///
/// It is the risk of this row under this table, no differential-privacy guarantee, which speaks of all
/// tables; and it is itself sensitive.
struct RowRisk {
  Eigen::Index row = 0;
  RowStatus status = RowStatus::not_computed;
  RiskNumber leverage;  ///< RidgeProblem::leverage; NaN for other models
  /// The proven mu of Gaussian differential privacy for this pair (Spec §6.4); NaN where the distributions are
  /// known exactly or nothing is proven.
  RiskNumber mu;
  RiskNumber advantage;  ///< total variation
  DirectedRisk forward;
  DirectedRisk reverse;
  bool used_rank_tolerance = false;  ///< a rank was decided by rounding (Spec §2)
  std::string message;
};

/// The contractive bound with the true, simulated difference of the gradients along the paths, where
/// the proven one has constants: how much of a row's KL bound is slack of the constants.
struct RowCheck {
  MonteCarloMean forward;  ///< an estimate of a bound on KL(D||D')
  MonteCarloMean reverse;
  std::uint64_t paths = 0;  ///< 0 if there is no estimate
  std::uint64_t steps = 0;  ///< of each path
  double horizon = 0.0;     ///< training time that the paths cover
  bool stationary = false;  ///< an average over paths that start near the stationary distribution
  std::string reason = {};  ///< why there is no estimate
};

}  // namespace sfumato
