#pragma once

#include <Eigen/Core>
#include <variant>

#include "sfumato/rows/row_risk.hpp"
#include "sfumato/sde/gaussian_distribution.hpp"
#include "sfumato/sde/problem/classification.hpp"
#include "sfumato/sde/problem/ridge.hpp"

namespace sfumato {

/// How well weights predict a quantity on the rows of a table.
struct RegressionQuality {
  double r_squared;  ///< 1 - sum (y - x^T w)^2 / sum (y - mean y)^2; NaN for a constant target
  double rmse;       ///< root of the mean squared error, in units of the target
};

/// How well weights predict a label of 0 or 1 on the rows of a table.
struct ClassificationQuality {
  double accuracy;  ///< share of rows on the side of their label
  double log_loss;  ///< mean of -log of the probability of the label, in nats
};

/// What noise costs: the quality of what is released without its noise (of the mean of its distribution), and expected
/// over the noise. The root of the expected mean squared error is an upper bound of the expected root.
template <class Quality>
struct Cost {
  Quality without_noise;
  Quality expected;
};
struct LabelCost : Cost<ClassificationQuality> {
  double majority;  ///< the accuracy of who always says the more frequent label
};
using ReleaseCost = std::variant<Cost<RegressionQuality>, LabelCost>;

/// The distribution of the weights that ridge regression releases (Spec §5, §8), exact.
/// Throws   NumericalFailure if there is none; InvalidArgument as row_risks().
[[nodiscard]] GaussianDistribution released_distribution(const RidgeProblem& problem,
                                                         const Release& release);

/// The same for classification: exact for a released minimiser, else that of the loss's quadratic approximation at
/// its minimiser, an estimate.
[[nodiscard]] GaussianDistribution released_distribution(const ClassificationProblem& problem,
                                                         const Eigen::VectorXd& minimiser,
                                                         const Release& release);

/// Of weights w ~ N(m, V):  E sum (x^T w - y)^2 = sum (x^T m - y)^2 + tr(V X^T X), exact up to rounding. Speaks of these
/// rows: on others a model does worse.
[[nodiscard]] Cost<RegressionQuality> cost_of(const GaussianDistribution& distribution,
                                              const Eigen::MatrixXd& features,
                                              const Eigen::VectorXd& target);

/// Of weights of that distribution and labels 0 and 1: scores are normal, N(x^T m, x^T V x), so that each row's probability of
/// being on the right side is a normal probability and its expected loss an integral over a line (error below 1e-6).
[[nodiscard]] LabelCost label_cost_of(const GaussianDistribution& distribution,
                                      const Eigen::MatrixXd& features,
                                      const Eigen::VectorXd& labels);

}  // namespace sfumato
