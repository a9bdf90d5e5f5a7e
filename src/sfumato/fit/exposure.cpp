#include "sfumato/fit/exposure.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

void expose_moments(const RowMajor& rows, double noise_std, RowExposure* exposure) {
  exposure->mu_squared.array() += (rows.rowwise().squaredNorm().array() / noise_std).square();
}

void expose_metric(const RowMajor& features, const std::vector<MomentsRelease>& rounds,
                   RowExposure* exposure) {
  for (const MomentsRelease& round : rounds) {
    RowMajor rows = in_metric(features, round.base.root);
    shorten_rows(round.bound, &rows);
    expose_moments(rows, round.moments.noise_std, exposure);
  }
  exposure->exact = exposure->exact && rounds.size() <= 1;
}

void expose_descent(const RowMajor& z, const VectorXd& target, FitModel model,
                    const DescentPlan& plan, const std::vector<ReleasedStep>& steps,
                    RowExposure* exposure) {
  const double deviation = plan.noise_multiplier * plan.clip;
  for (const ReleasedStep& step : steps) {
    const VectorXd norms = clipped_gradient_norms(z, target, model, step.at, plan.clip);
    exposure->mu_squared.array() += (norms.array() / deviation).square();
  }
  exposure->exact = false;  // where the next step is taken depends on this one's noise
}

}  // namespace sfumato
