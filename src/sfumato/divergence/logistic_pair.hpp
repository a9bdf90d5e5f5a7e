#pragma once

#include <memory>
#include <vector>

#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/problem/classification.hpp"

namespace sfumato {

/// Noisy gradient flow of logistic regression on a table and on a neighbour, each with a constant noise of its own: what
/// Spec §27.6 needs of them. Both have the same ridge and the same factor of a row.
struct LogisticFlow {
  std::shared_ptr<const ClassificationProblem> problem;
  Covariance noise;
};
/// A row that one of them has and the other has not.
struct LogisticRecord {
  Eigen::VectorXd features;
  bool in_first;
};

/// KL(p_t||q_t) for a common start from constants alone: e_sup from the rows that differ (27.4 (2)), the Fisher information
/// from  ridge I <= Hess f <= ridge I + c/4 X^T X  (27.6 (1)), contraction of the second flow in the metric of its noise
/// (27.3 (5)) or at the ridge in the isotropic one. Point starts are allowed.
///
/// Time     >= 0 or +inf.
/// Edges    infinite, with the reason: singular noise, more than 200 parameters.
/// Throws   InvalidArgument if a problem is not logistic, or sizes differ.
[[nodiscard]] KlBound logistic_constants_bound(const LogisticFlow& p, const LogisticFlow& q,
                                               const std::vector<LogisticRecord>& records,
                                               const GaussianDistribution& start, double time);

}  // namespace sfumato
