// Golden functions of Spec §4: from divergences to advantage and (eps, delta).
#include "golden/registry.hpp"
#include "sfumato/account/accountant/renyi_conversion.hpp"
#include "sfumato/risk/kl_conversion.hpp"

namespace sfumato::apps {

void register_conversions(Registry& registry) {
  registry["delta_from_kl"] = [](const Json& in) -> Json {
    const Nats kl(in.at("kl").get<double>());
    const Epsilon epsilon(in.at("eps").get<double>());
    return {{"delta_forward", delta_from_kl_forward(kl, epsilon).value.probability()},
            {"delta_reverse", delta_from_kl_reverse(kl, epsilon).value.probability()},
            {"pinsker", pinsker_bound(kl).value},
            {"bretagnolle_huber", bretagnolle_huber_bound(kl).value}};
  };
  registry["rdp_conversion"] = [](const Json& in) -> Json {
    const Nats renyi(in.at("renyi").get<double>());
    const double order = in.at("alpha").get<double>();
    const Epsilon epsilon(in.at("eps").get<double>());
    const Delta delta(in.at("delta").get<double>());
    return {{"delta", delta_from_renyi(renyi, order, epsilon).value.probability()},
            {"eps", json_from(epsilon_from_renyi(renyi, order, delta).value.nats())}};
  };
}

}  // namespace sfumato::apps
