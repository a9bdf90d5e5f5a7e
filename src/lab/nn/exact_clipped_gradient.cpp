#include "lab/nn/exact_clipped_gradient.hpp"

#include <algorithm>
#include <cmath>

namespace sfumato::lab {

double block_norm(const ParameterBlock& block, std::span<const double> gradient,
                  std::span<const float> inverse_variances) {
  double square = 0.0;
  for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
    const double weight =
        inverse_variances.empty() ? 1.0 : static_cast<double>(inverse_variances[i]);
    square += gradient[i] * gradient[i] * weight;
  }
  return std::sqrt(square);
}

ClippedSum clipped_gradient(const Network& network, std::span<const double> parameters,
                            std::span<const LabelledRecord> records, const Clipping& clipping,
                            std::span<const float> inverse_variances) {
  ClippedSum result;
  result.sum.assign(network.parameter_count(), 0.0);
  for (const LabelledRecord& record : records) {
    if (record.values.empty()) {
      result.norms.push_back(0.0);
      continue;
    }
    const std::vector<double> gradient = record_gradient(network, parameters, record).gradient;
    double square = 0.0;
    for (const ParameterBlock& block : network.blocks()) {
      const double norm = block_norm(block, gradient, inverse_variances);
      square += norm * norm;
    }
    result.norms.push_back(std::sqrt(square));
    if (!std::isfinite(square)) {
      ++result.zeroed;
      continue;
    }
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      const ParameterBlock& block = network.blocks()[b];
      const double norm = clipping.by_block() ? block_norm(block, gradient, inverse_variances)
                                              : result.norms.back();
      const double clip = clipping.clips[clipping.by_block() ? b : 0];
      const double factor = norm > clip ? clip / norm : 1.0;
      for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
        result.sum[i] += factor * gradient[i];
      }
    }
  }
  return result;
}

}  // namespace sfumato::lab
