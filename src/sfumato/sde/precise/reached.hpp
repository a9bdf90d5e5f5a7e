#pragma once

#include <Eigen/Core>

#include "sfumato/sde/precise/training.hpp"
#include "sfumato/sde/spectrum.hpp"

namespace sfumato {

/// What is known of where a distribution is: in a subspace around its mean, if noise and start do not reach every direction.
struct ReachedDistribution {
  const Spectrum& spectrum;
  const GivenTraining& training;
  const Eigen::VectorXd& mean;
};

/// Throws   NumericalFailure unless two distributions that rounding calls mutually singular are: the subspaces that their noise reaches until `when`,
///          the span of A^j Sigma (of (I - eta A)^j S for chains), differ, or the means differ by what is in neither. Noise along
///          one direction reaches the others through A within no time, with variances of t^3, t^5, ..., far below the rounding of the largest.
void require_singular(const ReachedDistribution& p, const ReachedDistribution& q, double when);

}  // namespace sfumato
