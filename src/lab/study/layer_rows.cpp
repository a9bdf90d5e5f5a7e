#include "lab/study/layer_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/nn/stage.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

const Network& require_first(const Network& network) {
  const Stage first = stages_of(network).front();
  const std::size_t layer = network.blocks().front().layer;
  const bool flattened = layer > 0 && first.core == Stage::Core::convolution;
  if (first.core != Stage::Core::none && !flattened) return network;
  throw InvalidArgument(
      fmt::format("the metric `input` with the layer `{}` before the first one with parameters",
                  network.layers().front().name),
      "Use it for networks that begin with a linear layer or a convolution");
}

}  // namespace

LayerRows::LayerRows(const Network& network, std::size_t block)
    : width_(network.blocks()[block].inputs),
      inputs_(network.before(network.blocks()[block].layer).size()) {
  const std::vector<Stage> stages = stages_of(network);
  const auto stage = std::find_if(stages.begin(), stages.end(),
                                  [&](const Stage& s) { return s.trained() && s.block == block; });
  if (stage->core != Stage::Core::convolution) return;
  patches_.emplace(*stage);
  bordered_.resize(patches_->bordered.size());
}

void LayerRows::require_exact_moments() const {
  if (!convolution()) return;
  throw InvalidArgument("exact noise for second moments of the patches of a convolution",
                        "Train without `hardened`, or with another metric");
}

void LayerRows::read(const float* pixels, float* rows, std::size_t stride) {
  if (!patches_) {
    std::copy_n(pixels, width_, rows);
    return;
  }
  patches_->put_inside(pixels, bordered_.data());
  const kernel::PatchShape& patch = patches_->patch;
  for (std::size_t p = 0; p < positions(); ++p) {
    const float* corner = bordered_.data() + patches_->corners[p];
    for (std::size_t s = 0; s < patch.segments; ++s) {
      std::copy_n(corner + s * patch.stride, patch.segment, rows + p * stride + s * patch.segment);
    }
  }
}

FirstLayerRows::FirstLayerRows(const Network& network)
    : network_(require_first(network)),
      rows_(network, 0),
      planes_(network.input().size()),
      pixels_(planes_.size()) {}

void FirstLayerRows::read(const LabelledSet& set, std::uint32_t record, float* rows,
                          std::size_t stride) {
  standardised(set, record, planes_);
  planes_to_pixels(set.shape, planes_.data(), pixels_.data());
  rows_.read(pixels_.data(), rows, stride);
}

ImageShape FirstLayerRows::shape() const {
  const Shape& input = network_.input();
  if (!convolution()) return {input.channels, input.height, input.width};
  const Shape& output = network_.after(0);
  return {static_cast<int>(width()), output.height, output.width};
}

Network FirstLayerRows::network() const {
  if (!convolution()) return network_;
  std::vector<NamedLayer> layers = network_.layers();
  auto& convolution = std::get<Conv2d>(layers.front().layer);
  convolution = {convolution.channels, 1, 1, 0};
  const ImageShape rows = shape();
  return {Shape{rows.channels, rows.height, rows.width}, std::move(layers)};
}

void planes_to_pixels(const ImageShape& shape, const float* planes, float* pixels) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t plane = shape.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t p = 0; p < plane; ++p) pixels[p * channels + c] = planes[c * plane + p];
  }
}

void pixels_to_planes(const ImageShape& shape, const float* pixels, float* planes) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t plane = shape.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t p = 0; p < plane; ++p) planes[c * plane + p] = pixels[p * channels + c];
  }
}

}  // namespace sfumato::lab
