#pragma once

#include <span>
#include <vector>

#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/training_data.hpp"
#include "lab/study/input_metric.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {

/// The metric of the first layer with parameters or, one after the other, those of all of them.
using LayerMetrics = std::vector<InputMetric>;

/// Releases what is left of the policy's metrics, layer by layer: second moments of what a layer reads of the records of the only world at the
/// initial parameters, in a network whose layers before it are whitened already. These parameters are drawn without the data, so that what is summed
/// is a public function of one record; it is scaled down to the length that imagined records have on average, which is public too.
///
/// `metrics` holds those that are released already, at least the first layer's, in whose coordinates `data` is; the others are added. `start` are the
/// initial parameters.
/// Edges    nothing is added if the metric is that of the first layer alone.
/// Throws   InvalidArgument if a layer is a convolution and the noise is to be exact, or the imagined inputs of a layer are zero; Stopped.
void release_deeper_metrics(const Network& network, std::span<const float> start,
                            const TrainingData& data, const InputMomentsMetric& metric,
                            const ReleaseNoise& noise, Observer& observer, LayerMetrics& metrics);

/// What is trained on records in the first layer's metric: the network with a fixed map, the metric's root, before each other layer that has one.
/// Convolutions with a metric become such of single pixels, each of which has the whitened patch as its channels. Parameters have the same
/// order as those of the network.
[[nodiscard]] Network whitened_network(const Network& network, const LayerMetrics& metrics);

/// Parameters of whitened_network() as those of the network on the inputs themselves: root_l W_l in each layer with a metric.
[[nodiscard]] std::vector<float> unwhitened(const Network& network, std::vector<float> parameters,
                                            const LayerMetrics& metrics);

}  // namespace sfumato::lab
