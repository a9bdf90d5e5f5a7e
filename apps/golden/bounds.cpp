// Golden functions of Spec §6 and §7: entropy-rate, contractive and convexity bounds.
#include <algorithm>

#include "golden/registry.hpp"
#include "sfumato/divergence/contractive_bound.hpp"
#include "sfumato/divergence/convexity_bounds.hpp"
#include "sfumato/divergence/entropy_rate.hpp"
#include "sfumato/divergence/langevin_gdp.hpp"
#include "sfumato/sde/contraction.hpp"

namespace sfumato::apps {
namespace {

OuPair ou_pair_from(const Json& in) {
  const Json& p = in.at("p");
  const Json& q = in.at("q");
  return {process_from(p), start_from(p), process_from(q), start_from(q)};
}

LangevinConstants constants_from(const Json& in) {
  const auto number = [&in](const char* name) { return in.at(name).get<double>(); };
  const double variance = number("sigma2");
  return {{number("kappa"), number("L")},
          {number("kappa_p"), number("L_p")},
          variance,
          in.value("sigma2_p", variance),
          in.at("d").get<Eigen::Index>(),
          number("delta_minimisers"),
          in.value("u0", 0.0)};
}

Json json_of(const KlBound& bound) { return json_from(bound.kl.value.value()); }

void register_entropy_rates(Registry& registry) {
  registry["ou_entropy_rate"] = [](const Json& in) -> Json {
    const EntropyRate rate = OuEntropyRate(ou_pair_from(in)).at(in.at("t").get<double>());
    return {{"exact_rate", rate.exact.value()},
            {"phi_rate_bound", json_from(rate.primal)},
            {"dual_rate_bound", json_from(rate.dual)}};
  };
  registry["ou_pair_bounds_unequal_sigma"] = [](const Json& in) -> Json {
    const OuPair pair = ou_pair_from(in);
    const double time = in.at("t").get<double>();
    const EntropyRateBounds bounds = entropy_rate_bounds(pair, time);
    return {{"kl", json_from(exact_kl(pair, time).value.value())},
            {"phi_bound", json_of(bounds.primal)},
            {"dual_bound", json_of(bounds.dual)}};
  };
  registry["ou_pair_bounds_equal_sigma"] = [](const Json& in) -> Json {
    const OuPair pair = ou_pair_from(in);
    const double time = in.at("t").get<double>();
    const double kappa = linear_contraction(pair.q.curvature, pair.p.noise);
    const OuDriftGap gap(pair.p, pair.start_p, pair.q);
    const DriftGap function{[&gap](double s) { return gap.at(s); }, gap.time_scale()};
    return {{"kl", json_from(exact_kl(pair, time).value.value())},
            {"path_bound", json_of(path_bound(pair, time))},
            {"kappa_prime_sigma", kappa},
            {"contractive_bound", contractive_bound(function, std::max(kappa, 0.0), time)}};
  };
  registry["langevin_gdp"] = [](const Json& in) -> Json {
    const GdpBound bound = langevin_gdp(in.at("whitened_sensitivity").get<double>(),
                                        in.at("kappa").get<double>(), in.at("t").get<double>());
    return {{"mu", json_from(bound.mu.value)}, {"kl_bound", json_from(bound.kl.value.value())}};
  };
}

void register_convexity(Registry& registry) {
  registry["lsi_constant"] = [](const Json& in) -> Json {
    return {{"C_t", lsi_constant(in.at("sigma2").get<double>(), in.at("kappa").get<double>(),
                                 in.at("C0").get<double>(), in.at("t").get<double>())}};
  };
  registry["mean_square_distance_bound"] = [](const Json& in) -> Json {
    return {{"u_t", mean_square_distance_bound(
                        in.at("trace_sigma").get<double>(), in.at("kappa").get<double>(),
                        in.at("u0").get<double>(), in.at("t").get<double>())}};
  };
  registry["kl_bound_constants"] = [](const Json& in) -> Json {
    const LangevinConstants constants = constants_from(in);
    return {{"bound", json_of(kl_bound_finite_time(constants, in.at("t").get<double>()))},
            {"uniform_bound", json_of(kl_bound_uniform(constants))}};
  };
  registry["kl_bound_stationary"] = [](const Json& in) -> Json {
    return {{"bound", json_of(kl_bound_stationary(constants_from(in)))}};
  };
  registry["kl_bound_constants_unequal"] = [](const Json& in) -> Json {
    const SmoothStart start{in.at("fisher0").get<double>(), in.at("C0").get<double>()};
    return {
        {"bound", json_of(kl_bound_unequal(constants_from(in), start, in.at("t").get<double>()))}};
  };
}

}  // namespace

void register_bounds(Registry& registry) {
  register_entropy_rates(registry);
  register_convexity(registry);
}

}  // namespace sfumato::apps
