#include "lab/nn/initialise.hpp"

#include <cmath>

#include "sfumato/random/stream.hpp"

namespace sfumato::lab {

std::vector<float> initial_parameters(const Network& network, std::uint64_t seed) {
  std::vector<double> uniform(network.parameter_count());
  Stream(StreamKey(seed, Purpose::initialisation)).fill_uniform(0, 0, uniform);
  std::vector<float> parameters(uniform.size());
  for (const ParameterBlock& block : network.blocks()) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(block.inputs));
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      parameters[i] = static_cast<float>(bound * (2.0 * uniform[i] - 1.0));
    }
  }
  return parameters;
}

}  // namespace sfumato::lab
