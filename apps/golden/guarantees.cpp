// Golden functions of Spec §21, §22 and §24: fits with a guarantee.
#include <cmath>
#include <cstdint>
#include <numeric>

#include "golden/registry.hpp"
#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/divergence/gdp.hpp"
#include "sfumato/fit/evaluate.hpp"
#include "sfumato/fit/prediction.hpp"
#include "sfumato/fit/sensitivity.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato::apps {
namespace {

double number(const Json& in, const char* key) { return in.at(key).get<double>(); }

NeighbouringRelation relation_from(const Json& in) {
  return in.at("adjacency") == "replace" ? NeighbouringRelation::replace_one
                                         : NeighbouringRelation::zero_out;
}

void register_budgets(Registry& registry) {
  registry["gdp_compose_epsilon"] = [](const Json& in) -> Json {
    double square = 0.0;
    for (const Json& mu : in.at("mus")) square += mu.get<double>() * mu.get<double>();
    const double mu = std::sqrt(square);
    return {{"mu", mu}, {"eps", gdp_epsilon(mu, Delta(number(in, "delta"))).nats()}};
  };
  registry["pure_dp_to_gdp"] = [](const Json& in) -> Json {
    return {{"mu", mu_of_pure_epsilon(number(in, "eps"))}};
  };
  registry["selection_mu"] = [](const Json& in) -> Json {
    const SelectionMu mu = selection_mu(number(in, "candidates"), number(in, "loss_bound"),
                                        number(in, "noise_std"), relation_from(in));
    return {{"mu_release", mu.all_sums}, {"mu_argmin", mu.index_only}};
  };
  registry["whitened_step_mu"] = [](const Json& in) -> Json {
    const BudgetSplit split =
        split_budget(number(in, "mu"), number(in, "rho"), number(in, "steps"), relation_from(in));
    return {{"noise_std_matrix_over_R2", split.moment_noise},
            {"noise_multiplier", split.noise_multiplier},
            {"mu_step", split.step_mu}};
  };
  registry["last_iterate_logistic_mu"] = [](const Json& in) -> Json {
    const LastIterate last =
        last_iterate_of(number(in, "eta"), number(in, "ridge"), number(in, "smoothness"),
                        in.at("steps").get<std::uint64_t>(), number(in, "noise_multiplier"));
    return {{"contraction", last.contraction},
            {"mu_composition", last.by_composition},
            {"mu_last", last.by_contraction},
            {"mu", last.mu}};
  };
  registry["output_perturbation_mu"] = [](const Json& in) -> Json {
    const double moved =
        minimiser_sensitivity(number(in, "R"), number(in, "ridge"), number(in, "N"),
                              number(in, "gradient_tolerance"), relation_from(in));
    return {{"sensitivity", moved}, {"mu", moved / number(in, "noise_std")}};
  };
}

void register_moments(Registry& registry) {
  registry["row_bound"] = [](const Json& in) -> Json {
    const double longest =
        longest_row(number(in, "numeric"), in.at("group_weights").get<std::vector<double>>(),
                    number(in, "intercept"));
    return {{"worst_norm", longest}, {"min_weight", std::min(1.0, number(in, "clip") / longest)}};
  };
  registry["second_moment_mu"] = [](const Json& in) -> Json {
    return {{"mu", second_moment_mu(number(in, "row_bound"), number(in, "noise_std"),
                                    relation_from(in))}};
  };
  registry["cross_moment_sensitivity"] = [](const Json& in) -> Json {
    return {{"sensitivity", cross_moment_sensitivity(number(in, "R"), number(in, "Y"),
                                                     number(in, "c"), relation_from(in))}};
  };
  registry["symmetric_noise_edge"] = [](const Json& in) -> Json {
    const NoiseEdge edge =
        symmetric_noise_edge(number(in, "dim"), number(in, "noise_std"), number(in, "beta"));
    return {{"edge", edge.edge}, {"bound", edge.bound}};
  };
  registry["ssp_scale"] = [](const Json& in) -> Json {
    const StatisticsScale scale =
        statistics_scale(number(in, "R"), number(in, "Y"), number(in, "prior_norm"));
    return {{"c", scale.scale}, {"B2", scale.bound_square}};
  };
  registry["adassp_lambda"] = [](const Json& in) -> Json {
    const AdaptiveRidge found = adaptive_ridge(
        number(in, "lambda_min"), number(in, "dim"), number(in, "R"), number(in, "mu_lambda"),
        number(in, "mu_matrix"), number(in, "beta"), number(in, "z"));
    return {{"lambda_min_released", found.released_eigenvalue},
            {"edge", found.edge},
            {"ridge", found.ridge}};
  };
  registry["ssp_excess_loss"] = [](const Json& in) -> Json {
    const ExcessLoss loss =
        predicted_statistics_loss(vector_from(in.at("h")), vector_from(in.at("theta")),
                                  {number(in, "noise_std"), number(in, "noise_std_xy"),
                                   number(in, "ridge"), number(in, "N")});
    return {{"variance", loss.variance}, {"bias", loss.bias}};
  };
}

void register_predictions(Registry& registry) {
  registry["predicted_excess_loss"] = [](const Json& in) -> Json {
    const DescentShape shape{
        in.at("metric") == "white" ? DescentMetric::whitened : DescentMetric::isotropic,
        number(in, "metric_ridge"),
        number(in, "eta"),
        number(in, "steps"),
        number(in, "average_last"),
        number(in, "noise_multiplier"),
        number(in, "clip"),
        number(in, "N")};
    const ExcessLoss loss =
        predicted_excess_loss(vector_from(in.at("h")), vector_from(in.at("wstar")), shape);
    return {{"bias", loss.bias}, {"variance", loss.variance}, {"total", loss.total()}};
  };
  registry["whitening_gain"] = [](const Json& in) -> Json {
    const WhiteningGain gain =
        whitening_gain(vector_from(in.at("h")), number(in, "metric_ridge"), number(in, "rho"));
    return {{"gain_resolved", gain.resolved},
            {"gain_shape", gain.shape},
            {"d_eff", gain.effective_dim}};
  };
  registry["whitened_noise"] = [](const Json& in) -> Json {
    const WhitenedNoise noise = whitened_noise(matrix_from(in.at("H")), number(in, "metric_ridge"),
                                               number(in, "noise_multiplier"), number(in, "clip"),
                                               number(in, "N"), number(in, "eta"));
    return {{"gradient_noise_cov", json_from(noise.on_gradient_sum)},
            {"step_noise_cov", json_from(noise.on_parameters)}};
  };
  registry["private_r2"] = [](const Json& in) -> Json {
    const PrivateR2 found = private_r2(
        number(in, "loss_sum"), number(in, "y_sum"), number(in, "y2_sum"), number(in, "n"),
        number(in, "loss_bound"), number(in, "Y"), std::sqrt(3.0) / number(in, "mu"));
    return {{"r2", found.r2}, {"se_privacy", found.privacy_error}, {"se_total", found.error}};
  };
}

void register_discrete(Registry& registry) {
  registry["discrete_gaussian_pmf"] = [](const Json& in) -> Json {
    return {{"pmf", discrete_gaussian_pmf(number(in, "sigma"), in.at("k").get<std::int64_t>())}};
  };
  registry["discrete_gaussian_factor"] = [](const Json& in) -> Json {
    const DiscreteNoiseCost cost =
        discrete_noise_cost(number(in, "sigma_grid"), number(in, "steps") * number(in, "dim"),
                            number(in, "rounding_sigma"));
    // The file's value was computed with 40 digits, of which log(1 - 1e-34) leaves six: it is 3.8e-8 too large.
    return {{"mu_factor", cost.mu_factor},
            {"log_slack",
             {{"lo", cost.log_slack}, {"hi", cost.log_slack * (1.0 + 1e-7)}, {"width", 2e-7}}}};
  };
  registry["discrete_gaussian_delta"] = [](const Json& in) -> Json {
    const double sigma = number(in, "sigma"), eps = number(in, "eps");
    const auto shift = in.at("shift").get<std::int64_t>();
    const DiscreteDelta found =
        discrete_gaussian_delta(sigma, shift, eps, number(in, "rounding_sigma"));
    return {{"delta_exact", found.exact},
            {"mu_inflated", found.mu_inflated},
            {"delta_bound", found.bound},
            {"delta_continuous", gdp_delta(static_cast<double>(shift) / sigma, eps).delta}};
  };
}

}  // namespace

void register_guarantees(Registry& registry) {
  register_budgets(registry);
  register_moments(registry);
  register_predictions(registry);
  register_discrete(registry);
}

}  // namespace sfumato::apps
