#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/account/accountant/release.hpp"

namespace sfumato {

/// How far one record moves what is released, in standard deviations of the noise: mu of Gaussian privacy (Spec §22). Under `add_remove` the
/// numbers are those of `zero_out`, provided that nothing depends on the number or the order of the rows (Spec §21.1).

/// The longest row of so many features in [-1, 1], one-hot groups of these weights and an intercept (Spec §22.1).
[[nodiscard]] double longest_row(double numeric, const std::vector<double>& group_weights,
                                 double intercept);

/// sum v v^T with |v| <= bound, plus symmetric noise of deviation `noise_std` on the diagonal and noise_std / sqrt 2 off it (Spec §22.2).
[[nodiscard]] double second_moment_mu(double bound, double noise_std,
                                      NeighbouringRelation relation);

/// The same without the entry of y^2:  rows (x, c y), |x| <= row_norm, |y| <= target_bound; in the Frobenius norm (Spec §22.2).
[[nodiscard]] double cross_moment_sensitivity(double row_norm, double target_bound, double scale,
                                              NeighbouringRelation relation);

/// Where that noise ends: its norm is about `edge`, and above `bound` with probability beta at most (Spec §22.2).
struct NoiseEdge {
  double edge, bound;
};
[[nodiscard]] NoiseEdge symmetric_noise_edge(double dim, double noise_std, double beta);

/// A budget mu spent on second moments, a share rho of its square, and on `steps` clipped sums (Spec §22.4).
struct BudgetSplit {
  double
      moment_noise;  ///< deviation of the noise on second moments, over the square of the row bound
  double noise_multiplier;  ///< of a step: deviation over the clip
  double step_mu;
};
[[nodiscard]] BudgetSplit split_budget(double mu, double rho, double steps,
                                       NeighbouringRelation relation);

/// How far the minimiser of  (1/N) sum l_i(w) + (ridge/2) w^T M w  moves in |M^{1/2} .|, where |M^{-1/2} grad l_i| <= gradient_bound and both
/// minimisers are known up to a gradient of `tolerance` (Spec §22.6).
[[nodiscard]] double minimiser_sensitivity(double gradient_bound, double ridge, double rows,
                                           double tolerance, NeighbouringRelation relation);

/// Noisy descent in coordinates where noise and step are isotropic, only the last iterate released (Spec §22.5).
struct LastIterate {
  double contraction;
  double by_composition, by_contraction;
  double mu;  ///< the smaller
};
[[nodiscard]] LastIterate last_iterate_of(double learning_rate, double ridge, double smoothness,
                                          std::uint64_t steps, double noise_multiplier);

/// One of K candidates by noisy sums of losses in [0, loss_bound] (Spec §21.5).
struct SelectionMu {
  double all_sums;    ///< all K sums are released
  double index_only;  ///< only which is the least, losses centred at each record's midrange
};
[[nodiscard]] SelectionMu selection_mu(double candidates, double loss_bound, double noise_std,
                                       NeighbouringRelation relation);

/// The noise multiplier under which an Accountant of that relation counts a release as mu; rounded down.
[[nodiscard]] double multiplier_of_mu(double mu, NeighbouringRelation relation);

}  // namespace sfumato
