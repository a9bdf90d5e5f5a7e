#include "sfumato/divergence/likelihood_ratio.hpp"

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

LogLikelihoodRatio::Density LogLikelihoodRatio::density(const GaussianDistribution& distribution) {
  if (!is_definite(distribution.covariance)) {
    throw NumericalFailure("a covariance is singular: the distribution has no density",
                           "Add noise in every direction", Where::here("log likelihood ratio"));
  }
  Density made{distribution.mean, dense(distribution.covariance).llt(), 0.0};
  made.log_root = made.root.matrixLLT().diagonal().array().log().sum();
  return made;
}

LogLikelihoodRatio::LogLikelihoodRatio(const GaussianDistribution& p, const GaussianDistribution& q)
    : p_(density(p)), q_(density(q)) {
  require_size("q", q.mean.size(), p.mean.size(), Where::here("log likelihood ratio"));
}

double LogLikelihoodRatio::Density::log_at(const Eigen::VectorXd& at) const {
  return -0.5 * root.matrixL().solve(at - mean).squaredNorm() - log_root;
}

double LogLikelihoodRatio::operator()(const Eigen::VectorXd& at) const {
  return p_.log_at(at) - q_.log_at(at);
}

}  // namespace sfumato
