#include "reproduce/paper_golden.hpp"

#include "reproduce/concentration.hpp"
#include "reproduce/noise_plane.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato::apps {

Registry golden_functions() {
  Registry registry = library_functions();
  registry["concentration_equal_cov"] = [](const Json& in) -> Json {
    const Eigen::VectorXd difference = vector_from(in.at("mean_difference"));
    const Covariance cov = require_covariance("cov", Dense{matrix_from(in.at("cov"))});
    const WhitenedPair pair =
        whiten(Eigen::VectorXd::Zero(difference.size()), cov, difference, cov);
    const double kl = gaussian_kl(pair).value.value();
    const Epsilon epsilon(kl + in.at("r").get<double>());
    const auto printed = delta_from_concentration_as_printed(difference, cov, epsilon);
    const auto whitened = delta_from_concentration_whitened(difference, cov, epsilon);
    return {{"kl", kl},
            {"eps", epsilon.nats()},
            {"delta_printed", printed.value.probability()},
            {"delta_whitened", whitened.value.probability()},
            {"delta_exact", gdp_delta(pair.shift.matrix().norm(), epsilon.nats()).delta}};
  };
  registry["figure_point"] = [](const Json& in) -> Json {
    const NoisePlanePoint point =
        noise_plane_point(vector_from(in.at("S")), vector_from(in.at("sqrt_sigma_diag")));
    return {{"privacy", json_from(point.privacy_cost)}, {"trace", json_from(point.trace)}};
  };
  return registry;
}

}  // namespace sfumato::apps
