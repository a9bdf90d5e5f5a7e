#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "sfumato/sde/gaussian_distribution.hpp"

namespace sfumato {

/// log p(x) - log q(x) of two normal distributions with densities: the best score for telling draws of p from
/// draws of q (Neyman and Pearson).
class LogLikelihoodRatio {
 public:
  /// Throws   InvalidArgument if the dimensions differ; NumericalFailure if a covariance is singular.
  LogLikelihoodRatio(const GaussianDistribution& p, const GaussianDistribution& q);

  [[nodiscard]] double operator()(const Eigen::VectorXd& at) const;

 private:
  struct Density {
    Eigen::VectorXd mean;
    Eigen::LLT<Eigen::MatrixXd> root;
    double log_root;  ///< log det of the Cholesky factor
    [[nodiscard]] double log_at(const Eigen::VectorXd& at) const;  ///< without the (2 pi) factor
  };
  static Density density(const GaussianDistribution& distribution);

  Density p_, q_;
};

}  // namespace sfumato
