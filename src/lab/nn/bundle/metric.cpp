#include "lab/nn/bundle/metric.hpp"

#include <algorithm>
#include <limits>

#include "lab/nn/kernel/matrix.hpp"

namespace sfumato::lab {

BlockMetric::BlockMetric(const ParameterBlock& block, std::span<const float> inverse_variances)
    : inputs_(block.inputs),
      columns_(kernel::padded(block.outputs)),
      rows_((block.inputs + 1) * kernel::padded(block.outputs)) {
  float largest = 0.0F;
  for (std::size_t i = 0; i <= block.inputs; ++i) {
    for (std::size_t n = 0; n < block.outputs; ++n) {
      const float value = inverse_variances[block.offset + i * block.outputs + n];
      rows_.data()[i * columns_ + n] = value;
      largest = std::max(largest, value);
      total_ += static_cast<double>(value);
    }
  }
  // A square, and its product with a weight, are off by at most the least normal float each.
  vanished_ = static_cast<double>(inputs_) *
              static_cast<double>(std::numeric_limits<float>::min()) *
              (1.0 + static_cast<double>(largest));
}

}  // namespace sfumato::lab
