// Golden functions of Spec §10: the covariance of minibatch gradients.
#include "sfumato/sde/minibatch.hpp"

#include "golden/registry.hpp"

namespace sfumato::apps {
namespace {

/// Golden files write the covariance of one parameter as a list of one.
Json covariance_json(const Covariance& covariance) {
  const Eigen::MatrixXd matrix = dense(covariance);
  return matrix.size() == 1 ? Json::array({json_from(matrix(0, 0))}) : json_from(matrix);
}

}  // namespace

void register_minibatch(Registry& registry) {
  registry["sgd_covariance"] = [](const Json& in) -> Json {
    const Covariance estimator = minibatch_covariance(
        matrix_from(in.at("per_sample_gradients")),
        {in.at("batch").get<Eigen::Index>(), in.at("with_replacement").get<bool>()
                                                 ? BatchSampling::with_replacement
                                                 : BatchSampling::without_replacement});
    const double eta = in.at("eta").get<double>();
    return {{"cov_estimator", covariance_json(estimator)},
            {"step_cov", covariance_json(minibatch_step_covariance(estimator, eta))},
            {"sde_sigma", covariance_json(minibatch_diffusion_covariance(estimator, eta))}};
  };
}

}  // namespace sfumato::apps
