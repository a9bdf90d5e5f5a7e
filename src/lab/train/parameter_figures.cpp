#include "lab/train/parameter_figures.hpp"

#include <cstddef>
#include <numeric>
#include <variant>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

double mean_of(const std::vector<double>& values, std::size_t from, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

Series series_of(const ParameterField& field, const FieldMeaning& meaning) {
  return {field.name, field.name, {}, {}, {}, meaning.claim, meaning.method};
}

Figure by_layer(const Network& network, const std::vector<ParameterField>& fields,
                const FieldMeaning& meaning) {
  std::vector<std::string> names;
  for (const ParameterBlock& block : network.blocks()) {
    const std::string& layer = network.layers()[block.layer].name;
    names.push_back(layer + ".weight");
    names.push_back(layer + ".bias");
  }
  Figure figure(meaning.key + "_by_layer", meaning.title + ", by layer", Mark::columns,
                {"parameters", "", Scale::linear, std::move(names)}, {meaning.quantity});
  for (const ParameterField& field : fields) {
    Series series = series_of(field, meaning);
    for (const ParameterBlock& block : network.blocks()) {
      for (const double part : {mean_of(field.values, block.offset, block.weights()),
                                mean_of(field.values, block.bias(), block.outputs)}) {
        series.x.push_back(static_cast<double>(series.x.size()));
        series.y.push_back(part);
      }
    }
    figure.add(std::move(series));
  }
  return figure;
}

/// Whether each weight of the first layer with parameters reads one pixel.
bool reads_pixels(const Network& network) {
  const ParameterBlock& first = network.blocks().front();
  return std::holds_alternative<Linear>(network.layers()[first.layer].layer) &&
         network.input().height > 1 && network.input().width > 1 &&
         first.inputs == network.input().size();
}

Figure by_pixel(const Network& network, const std::vector<ParameterField>& fields,
                const FieldMeaning& meaning) {
  Figure figure(meaning.key + "_by_pixel", meaning.title + ", by pixel of the input", Mark::image,
                {"column"}, {"row"}, Axis{meaning.quantity});
  const ParameterBlock& first = network.blocks().front();
  const Shape& image = network.input();
  // The weights of a pixel follow one another: they are input-major (ParameterBlock).
  const std::size_t weights = static_cast<std::size_t>(image.channels) * first.outputs;
  for (const ParameterField& field : fields) {
    Series series = series_of(field, meaning);
    std::size_t at = first.offset;
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x, at += weights) {
        series.x.push_back(x);
        series.y.push_back(y);
        series.z.push_back(mean_of(field.values, at, weights));
      }
    }
    figure.add(std::move(series));
  }
  return figure;
}

}  // namespace

std::vector<Figure> parameter_figures(const Network& network,
                                      const std::vector<ParameterField>& fields,
                                      const FieldMeaning& meaning) {
  for (const ParameterField& field : fields) {
    if (field.values.size() != network.parameter_count()) {
      throw InternalError("the field '" + field.name + "' has not one number per parameter");
    }
  }
  std::vector<Figure> figures = {by_layer(network, fields, meaning)};
  if (reads_pixels(network)) figures.push_back(by_pixel(network, fields, meaning));
  return figures;
}

}  // namespace sfumato::lab
