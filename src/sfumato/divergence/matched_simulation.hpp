#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/fisher_information.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/drift_formulas.hpp"

namespace sfumato {

/// The bound of the matched process by simulation (Spec §27.7): a pilot chooses gains and weights, other paths then
/// average a statistic whose expectation is a bound whatever was chosen, steps of the chain aside.

/// What the pilot chooses: deterministic, one entry per node or step.
struct PathWeights {
  std::vector<double> nodes;           ///< c_k >= 0, k = 0 .. n
  std::vector<Eigen::MatrixXd> gains;  ///< g_k, k = 0 .. n - 1
  double constant = 0.0;               ///< what the first cell of a point start costs
};

/// The statistic U of one path (27.7 step 5) of the Euler chain of p with step h.
///
///   U = constant + tr(Th_0 J_0) + sum_k c_k e(X_k) + sum_k | S^{-1/2} (I - DT(X_k) g_k) Th_{k+1}^{1/2} |_F^2
///   Th_n = c_n P,  Th_k = c_k P + g_k Th_{k+1} g_k^T,   T(x) = x + h b(x),  S = h Sigma
class PathStatistic {
 public:
  /// The metric is N >= Sigma'^{-1}. `start` empty: a point, and no term for it.
  PathStatistic(const DriftFormulas& p, const DriftFormulas& q, const Eigen::MatrixXd& noise,
                const Eigen::MatrixXd& noise_prime, const Eigen::MatrixXd& metric, double step,
                PathWeights weights, const FisherInformation& start);

  /// Adds node k, k = 0 .. n, of many paths to their sums.
  void add_node(std::size_t k, double time, const ConstPoints& at, Eigen::ArrayXd& sums) const;
  /// constant + tr(Th_0 J_0).
  [[nodiscard]] double fixed() const { return fixed_; }
  [[nodiscard]] const Eigen::MatrixXd& theta(std::size_t k) const { return theta_[k]; }

 private:
  const DriftFormulas& p_;
  const DriftFormulas& q_;
  double step_;
  Eigen::MatrixXd whitening_;  ///< S^{-1/2}
  Eigen::MatrixXd metric_;
  Eigen::MatrixXd divergence_weight_;  ///< -2 M N
  PathWeights weights_;
  std::vector<Eigen::MatrixXd> theta_;
  std::vector<Eigen::MatrixXd> rest_;    ///< S^{-1/2} (I - g_k) Th_{k+1}^{1/2}
  std::vector<Eigen::MatrixXd> pulled_;  ///< g_k Th_{k+1}^{1/2}
  double fixed_ = 0.0;
};

struct MatchedSimulationOptions {
  std::uint64_t seed = 1;
  std::uint64_t pilot_paths = 400;
  std::uint64_t paths = 1000;
  std::uint64_t steps = 40;  ///< of the longer step, at least; once more with half of it
  std::uint64_t most_steps = 2000;
  unsigned threads = 0;
};

/// An estimate of an upper bound on KL(p_t || q_t) for a common start.
struct MatchedEstimate {
  MonteCarloMean at_step;
  MonteCarloMean at_half_step;
  double
      fisher_share;  ///< tr(P J_low)/tr(P Jhat) at the end: how much of the Fisher information is no loss; NaN for P = 0
  std::uint64_t steps;     ///< that were taken: half a step times the size of Db is 0.02 at most
  double steps_needed;     ///< more than most_steps, and then nothing was simulated; 0 otherwise
  std::uint64_t diverged;  ///< paths that left the numbers: nothing else is known then
  bool stopped;
  [[nodiscard]] bool has_value() const { return !stopped && diverged == 0 && steps_needed == 0.0; }
};

/// Assumes  constant definite noises, and that the second drift contracts at rate kappa in N = S^{-1}.
/// Throws   InvalidArgument if sizes differ, a drift has no formulas, or one may jump and the noises differ (its Jacobian
///          is then not all of its change).
[[nodiscard]] MatchedEstimate matched_process_estimate(const StartedDiffusion& p,
                                                       const Diffusion& q, double kappa,
                                                       const Covariance& metric, double time,
                                                       const MatchedSimulationOptions& options,
                                                       Observer& observer);

}  // namespace sfumato
