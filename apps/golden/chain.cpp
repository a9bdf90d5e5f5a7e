// Golden functions of Spec §8: the discrete chain.
#include <algorithm>
#include <utility>

#include "golden/registry.hpp"
#include "sfumato/divergence/linear_chain.hpp"
#include "sfumato/divergence/mahalanobis_clip.hpp"
#include "sfumato/divergence/noisy_gd_gdp.hpp"
#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/divergence/subsampled_gaussian.hpp"
#include "sfumato/sde/contraction.hpp"

namespace sfumato::apps {
namespace {

LinearChain chain_from(const Json& side, double learning_rate, const Covariance& step_noise) {
  OuProcess process = process_from(side);
  return {std::move(process.curvature), std::move(process.pull), learning_rate, step_noise};
}

}  // namespace

void register_chain(Registry& registry) {
  registry["linear_chain"] = [](const Json& in) -> Json {
    const double eta = in.at("eta").get<double>();
    const double steps = in.at("steps").get<double>();
    const Covariance noise = covariance_from("step_cov", in.at("step_cov"));
    const Json& p = in.at("p");
    const Json& q = in.at("q");
    const LinearChainPair pair{chain_from(p, eta, noise), start_from(p), chain_from(q, eta, noise),
                               start_from(q)};
    const double lipschitz = linear_step_lipschitz(pair.q.curvature, eta, noise);
    const KlBound contractive = chain_contractive_bound(pair, std::min(lipschitz, 1.0), steps);
    return {{"kl_final", json_from(exact_kl(pair, steps).value.value())},
            {"path_kl", json_from(path_kl(pair, steps).kl.value.value())},
            {"contraction", lipschitz},
            {"contractive_bound", json_from(contractive.kl.value.value())}};
  };
  registry["noisy_gd_gdp"] = [](const Json& in) -> Json {
    const double sensitivity =
        in.at("step_sensitivity").get<double>() / in.at("step_noise_std").get<double>();
    const double steps = in.at("steps").get<double>();
    const double lipschitz = in.at("contraction").get<double>();
    return {{"mu", noisy_gd_gdp(sensitivity, lipschitz, steps).mu.value},
            {"mu_composition", noisy_gd_gdp(sensitivity, 1.0, steps).mu.value}};
  };
  registry["step_kl"] = [](const Json& in) -> Json {
    const double eta = in.at("eta").get<double>();
    const double variance = in.at("sigma2").get<double>();
    const double floor = in.at("floor").get<double>();
    const Eigen::VectorXd g = vector_from(in.at("g"));
    const Eigen::VectorXd g_prime = vector_from(in.at("g_prime"));
    return {{"kl_gradient_scaled", json_from(gradient_scaled_step_kl(eta, variance, g, g_prime))},
            {"kl_floored", json_from(floored_step_kl(eta, variance, floor, g, g_prime))},
            {"floored_bound",
             json_from(floored_step_kl_bound(eta, variance, floor, (g - g_prime).cwiseAbs()))},
            {"kl_layer_max", json_from(layer_max_step_kl(eta, variance, g, g_prime))}};
  };
  registry["mahalanobis_clip"] = [](const Json& in) -> Json {
    const Covariance sigma = require_covariance("Sigma", Dense{matrix_from(in.at("Sigma"))});
    const ClippedGradient clipped =
        mahalanobis_clip(vector_from(in.at("g")), sigma, in.at("C").get<double>());
    return {{"mahalanobis_norm", clipped.norm}, {"clipped", json_from(clipped.gradient)}};
  };
  registry["subsampled_gaussian_rdp"] = [](const Json& in) -> Json {
    const double step =
        subsampled_gaussian_rdp(in.at("q").get<double>(), in.at("noise_multiplier").get<double>(),
                                in.at("alpha").get<int>());
    return {{"rdp_step", step}, {"rdp_total", in.at("steps").get<double>() * step}};
  };
}

}  // namespace sfumato::apps
