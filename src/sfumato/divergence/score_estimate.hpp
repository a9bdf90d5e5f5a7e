#pragma once

#include <cstdint>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/particle_score.hpp"
#include "sfumato/sde/time_grid.hpp"

namespace sfumato {

/// Which of the two bounds of Spec §6.1: with the score of q (primal) or of p (dual).
enum class ScoreForm { primal, dual };

struct ScoreEstimateOptions {
  ScoreForm form = ScoreForm::primal;
  std::uint64_t particles = 1000;  ///< in each of the two sets that give a score
  std::uint64_t points = 1000;     ///< paths of p at which it is taken
  std::uint64_t repetitions = 16;  ///< independent ones, for the standard error; at least 2
  double last_step = 0.1;          ///< of the particles; longer than the grid's (ParticleScore)
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< 0: as many as the machine has
};

/// The bound's rate at one time, and its integral from 0.
struct ScoreBoundEstimate {
  double time;
  MonteCarloMean rate;   ///< by the product of two independent scores: no bias from their variance
  MonteCarloMean naive;  ///< by the square of one score: biased upwards by its variance
  MonteCarloMean integral;  ///< of `rate`, trapezoidal over 0 and the grid's times
};

/// The bounds of Spec §6.1 on KL(p_t || q_t) for different noises, their scores from particles.
///
///   primal  rate = (1/2) E_p |Sigma^{-1/2} Phi|^2,   Phi = (1/2)(Sigma' - Sigma) grad log q - (h' - h)
///   dual    rate = (1/2) E_p |Sigma'^{-1/2} Psi|^2,  Psi = the same with grad log p
///   Spec §12.2: <Phi_1, Phi_2> of two independent particle sets in place of |Phi|^2
///
/// with h = b - (1/2) div Sigma. Each repetition has its own particles and points, so that the standard
/// error over repetitions covers both. What it does not cover: the steps (O(h), the long last step
/// included), the trapezoid, and a bias of order 1/particles that the ratio in a score leaves.
/// At time 0 the score is that of the start distribution; a start without density makes the integral +inf
/// (Spec §6.1: start later, from the distribution of one step, or smooth the start). The KL of the starts is
/// not added.
///
/// Stops    when the observer asks; the means are then over the repetitions done.
/// Throws   InvalidArgument above kParticleScoreDimension dimensions (the particles needed grow beyond
///          any machine), for fewer than 2 repetitions, or as simulate() and NoiseMetric.
[[nodiscard]] Claimed<std::vector<ScoreBoundEstimate>> score_estimate(
    const Diffusion& p, const GaussianDistribution& start_p, const Diffusion& q,
    const GaussianDistribution& start_q, const TimeGrid& grid, const ScoreEstimateOptions& options,
    Observer& observer);

}  // namespace sfumato
