#include "train/difference_figures.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <variant>
#include <vector>

namespace sfumato::cli {
namespace {

constexpr const char* kMethod = "mean over the steps of (g_i - g'_i)^2, one run";

double sum_of(const std::vector<double>& values, std::size_t from, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0);
}

Series layers_of(const TrainInput& input, const ModelRecord& record, double steps) {
  const std::string& policy = input.policies[record.policy].name;
  Series series{policy, policy, {}, {}, {}, Claim::exact, kMethod};
  for (const ParameterBlock& block : input.network.blocks()) {
    for (const double part : {sum_of(record.squared_differences, block.offset, block.weights()),
                              sum_of(record.squared_differences, block.bias(), block.outputs)}) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(part / steps);
    }
  }
  return series;
}

/// Summed over the weights of each pixel of the input, which are input-major (ParameterBlock).
Series pixels_of(const TrainInput& input, const ModelRecord& record, double steps) {
  const ParameterBlock& first = input.network.blocks().front();
  const Shape& image = input.network.input();
  const std::string& policy = input.policies[record.policy].name;
  Series series{policy, policy, {}, {}, {}, Claim::exact, kMethod};
  const std::size_t weights = static_cast<std::size_t>(image.channels) * first.outputs;
  std::size_t at = first.offset;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x, at += weights) {
      series.x.push_back(x);
      series.y.push_back(y);
      series.z.push_back(sum_of(record.squared_differences, at, weights) / steps);
    }
  }
  return series;
}

/// Whether each weight of the first layer with parameters reads one pixel.
bool reads_pixels(const Network& network) {
  const ParameterBlock& first = network.blocks().front();
  return std::holds_alternative<Linear>(network.layers()[first.layer].layer) &&
         network.input().height > 1 && network.input().width > 1 &&
         first.inputs == network.input().size();
}

}  // namespace

void add_difference_figures(Document& document, const TrainInput& input,
                            const TrainResult& result) {
  if (!input.study.train.gradient_differences || result.group.step() == 0) return;
  std::vector<std::string> names;
  for (const ParameterBlock& block : input.network.blocks()) {
    const std::string& layer = input.network.layers()[block.layer].name;
    names.push_back(layer + ".weight");
    names.push_back(layer + ".bias");
  }
  Figure layers("differences_by_layer", "Where the record shows: gradients that differ, by layer",
                Mark::columns, {"parameters", "", Scale::linear, std::move(names)},
                {"mean squared difference"});
  layers.set_caption("Noise that is designed for these differences follows their roots.");
  Figure pixels("differences_by_pixel", "Where the record shows: gradients that differ, by pixel",
                Mark::image, {"column"}, {"row"}, Axis{"mean squared difference"});
  pixels.set_caption("Made from private data: the picture may show the record itself.");
  const auto steps = static_cast<double>(result.group.step());
  for (const ModelRecord& record : result.group.records()) {
    if (record.world != 0 || record.squared_differences.empty()) continue;
    layers.add(layers_of(input, record, steps));
    if (reads_pixels(input.network)) pixels.add(pixels_of(input, record, steps));
  }
  if (!layers.series().empty()) document.add(std::move(layers));
  if (!pixels.series().empty()) document.add(std::move(pixels));
}

}  // namespace sfumato::cli
