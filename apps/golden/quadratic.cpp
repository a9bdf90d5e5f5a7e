// Golden functions of Spec §5: Ornstein-Uhlenbeck distributions of quadratic losses.
#include "sfumato/sde/problem/quadratic.hpp"

#include <cmath>

#include "golden/registry.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/sde/ou_distribution.hpp"

namespace sfumato::apps {
namespace {

OuDistribution distribution_from(const Json& side) {
  return OuDistribution(process_from(side), start_from(side));
}

/// Golden files write the covariance of one parameter as a list of one.
Json covariance_json(const Covariance& covariance) {
  const Eigen::MatrixXd matrix = dense(covariance);
  return matrix.size() == 1 ? Json::array({json_from(matrix(0, 0))}) : json_from(matrix);
}

}  // namespace

void register_quadratic(Registry& registry) {
  registry["ou_moments"] = [](const Json& in) -> Json {
    const OuDistribution distribution = distribution_from(in);
    const double time = in.at("t").get<double>();
    const GaussianDistribution now = distribution.at(time);
    Json out = {{"mean", json_from(now.mean)},
                {"cov", covariance_json(now.covariance)},
                {"error", json_from(distribution.error(time, vector_from(in.at("xstar"))))}};
    if (const auto excess = distribution.excess_loss(time)) out["excess_loss"] = json_from(*excess);
    return out;
  };
  registry["ou_stationary"] = [](const Json& in) -> Json {
    const Eigen::MatrixXd curvature = matrix_from(in.at("A"));
    const Eigen::VectorXd origin = Eigen::VectorXd::Zero(curvature.rows());
    const OuDistribution distribution({curvature, origin, covariance_from("Sigma", in.at("Sigma"))},
                                      point_distribution(origin));
    Json out = {{"cov", covariance_json(distribution.at(HUGE_VAL).covariance)},
                {"error", json_from(distribution.error(HUGE_VAL, origin))}};
    if (const auto excess = distribution.excess_loss(HUGE_VAL))
      out["excess_loss"] = json_from(*excess);
    return out;
  };
  registry["ou_pair_exact"] = [](const Json& in) -> Json {
    const Risk risk = Risk::exact(whiten_at(
        distribution_from(in.at("p")), distribution_from(in.at("q")), in.at("t").get<double>()));
    const Epsilon epsilon(in.at("eps").get<double>());
    return {{"kl_pq", json_from(risk.kl(Direction::forward).value.value())},
            {"kl_qp", json_from(risk.kl(Direction::reverse).value.value())},
            {"tv", risk.advantage().value},
            {"delta_pq", risk.delta(Direction::forward, epsilon).value.probability()},
            {"delta_qp", risk.delta(Direction::reverse, epsilon).value.probability()}};
  };
}

}  // namespace sfumato::apps
