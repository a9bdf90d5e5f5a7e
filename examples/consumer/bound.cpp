// bound.cpp: how far apart can two trainings be whose drifts are functions?
#include <cmath>
#include <cstdio>

#include "sfumato/sfumato.hpp"

using Eigen::VectorXd;
VectorXd drift(double, const VectorXd& x) { return -x; }
VectorXd drift_prime(double, const VectorXd& x) { return -x + 0.1 * x.array().cos().matrix(); }

int main() {
  const sfumato::Covariance noise = sfumato::Isotropic{.variance = 0.5, .dimension = 1};
  const sfumato::GaussianDistribution start = sfumato::point_distribution(VectorXd::Zero(1));
  sfumato::SdePair pair{{sfumato::diffusion_from(1, drift, noise), start},
                        {sfumato::diffusion_from(1, drift_prime, noise), start}};
  pair.sensitivity.value = {0.1 / std::sqrt(0.5), sfumato::Claim::upper_bound};
  pair.p.diffusion.contraction = [](const sfumato::Covariance&) { return 1.0; };
  for (const double time : {1.0, 10.0}) {
    const auto risk = sfumato::Risk::from_gdp(gdp_bound(pair, time).value.value().mu);
    std::printf("time %2.0f: epsilon %s\n", time,
                claimed_text(risk.epsilon(sfumato::Delta(1e-5))).c_str());
  }
}
