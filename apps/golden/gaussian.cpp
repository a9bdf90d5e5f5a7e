// Golden functions of Spec §2 and §3: divergences between normal distributions.
#include "golden/registry.hpp"
#include "sfumato/divergence/gaussian_hockey_stick.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato::apps {

void register_gaussian(Registry& registry) {
  registry["gaussian_kl"] = [](const Json& in) -> Json {
    const WhitenedPair pair = pair_from(in);
    return {{"kl_pq", json_from(gaussian_kl(pair).value.value())},
            {"kl_qp", json_from(gaussian_kl(swapped(pair)).value.value())}};
  };
  registry["gaussian_renyi"] = [](const Json& in) -> Json {
    const WhitenedPair pair = pair_from(in);
    const double order = in.at("alpha").get<double>();
    return {{"d_pq", json_from(gaussian_renyi(pair, order).value.value())},
            {"d_qp", json_from(gaussian_renyi(swapped(pair), order).value.value())}};
  };
  registry["gaussian_hockey_stick"] = [](const Json& in) -> Json {
    const WhitenedPair pair = pair_from(in);
    const double eps = in.at("eps").get<double>();
    return {{"delta_pq", gaussian_hockey_stick(pair, eps).delta},
            {"delta_qp", gaussian_hockey_stick(swapped(pair), eps).delta}};
  };
  registry["gaussian_tv"] = [](const Json& in) -> Json {
    return {{"tv", gaussian_total_variation(pair_from(in)).value}};
  };
  registry["gdp_delta"] = [](const Json& in) -> Json {
    return {{"delta", gdp_delta(in.at("mu").get<double>(), in.at("eps").get<double>()).delta}};
  };
  registry["gdp_eps"] = [](const Json& in) -> Json {
    const Delta delta(in.at("delta").get<double>());
    return {{"eps", json_from(gdp_epsilon(in.at("mu").get<double>(), delta).nats())}};
  };
}

}  // namespace sfumato::apps
