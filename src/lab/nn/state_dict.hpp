#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lab/nn/network.hpp"

namespace sfumato::lab {

/// An array with any number of axes, the last one fastest.
struct NamedTensor {
  std::string name;  ///< "fc1.weight"
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

/// The parameters of a network as PyTorch's state_dict() has them: linear weights (outputs, inputs),
/// convolutions (outputs, inputs, height, width), biases (outputs), in the order of the layers. Inputs of
/// a linear layer behind a flattened image come channel by channel there and pixel by pixel here: they
/// are moved, so that the same model in PyTorch gives the same logits.
///
/// Throws   InvalidArgument if the parameters are not as many as the network's.
[[nodiscard]] std::vector<NamedTensor> state_dict(const Network& network,
                                                  std::span<const float> parameters);

}  // namespace sfumato::lab
