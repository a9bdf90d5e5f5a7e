// Golden functions of Spec §12.3: Fokker-Planck on grids.
#include "sfumato/sde/fokker_planck/operator.hpp"
#include "verify/registry.hpp"

namespace sfumato::cli {

void register_fokker_planck(Registry& registry) {
  registry["bernoulli_function"] = [](const Json& in) -> Json {
    return {{"B", bernoulli_function(in.at("w").get<double>())}};
  };
}

}  // namespace sfumato::cli
