#pragma once

#include <cstdint>
#include <vector>

#include "lab/nn/network.hpp"

namespace sfumato::lab {

/// Where training starts: weights and biases uniform on +-1/sqrt(fan-in) of their layer, which are the
/// distributions that PyTorch gives its linear and convolution layers when nothing else is asked for.
///
/// Parameter i is made of the uniform number (step 0, index i) of the stream (seed,
/// Purpose::initialisation): a pure function of the seed, with the same bits on every machine.
[[nodiscard]] std::vector<float> initial_parameters(const Network& network, std::uint64_t seed);

}  // namespace sfumato::lab
