#include "lab/nn/stage.hpp"

#include <cstring>

#include "sfumato/core/overloaded.hpp"

namespace sfumato::lab {
namespace {

std::size_t count(int n) { return static_cast<std::size_t>(n); }

}  // namespace

std::vector<Stage> stages_of(const Network& network) {
  std::vector<Stage> stages;
  std::size_t block = 0;
  // How far the last stage has come: its core (1), its activation (2), its pool (3).
  int progress = 3;
  const auto stage_for = [&](int part, std::size_t layer) -> Stage& {
    if (progress >= part) {
      stages.emplace_back();
      stages.back().in = stages.back().middle = stages.back().out = network.before(layer);
    }
    progress = part;
    return stages.back();
  };
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const auto core = [&](Stage::Core kind) -> Stage& {
      Stage& stage = stage_for(1, i);
      stage.core = kind;
      stage.middle = stage.out = network.after(i);
      return stage;
    };
    const auto pool = [&](Stage::Pool kind, int size) {
      // Averages do not commute with activations, whose derivative the stage reads off its output.
      if (kind == Stage::Pool::average) progress = 3;
      Stage& stage = stage_for(3, i);
      stage.pool = kind;
      stage.pool_size = count(size);
      stage.out = network.after(i);
    };
    std::visit(
        Overloaded{[&](const Linear&) { core(Stage::Core::linear).block = block++; },
                   [&](const Conv2d& c) {
                     Stage& stage = core(Stage::Core::convolution);
                     stage.block = block++;
                     stage.convolution = c;
                   },
                   [&](const FixedMap& map) {
                     Stage& stage =
                         core(map.patches ? Stage::Core::convolution : Stage::Core::linear);
                     stage.fixed = map.matrix;
                     if (map.patches) stage.convolution = *map.patches;
                   },
                   [&](const MaxPool2d& p) { pool(Stage::Pool::max, p.size); },
                   [&](const AvgPool2d& p) { pool(Stage::Pool::average, p.size); },
                   [&](const Relu&) { stage_for(2, i).activation = Stage::Activation::relu; },
                   [&](const Tanh&) { stage_for(2, i).activation = Stage::Activation::tanh; },
                   [&](const Sigmoid&) { stage_for(2, i).activation = Stage::Activation::sigmoid; },
                   [&](const Flatten&) {
                     // The next core reads a plain vector: nothing may follow in this stage.
                     progress = 3;
                   }},
        network.layers()[i].layer);
  }
  return stages;
}

PatchGeometry::PatchGeometry(const Stage& stage) : padding(count(stage.convolution.padding)) {
  const Conv2d& c = stage.convolution;
  bordered = {stage.in.channels, stage.in.height + 2 * c.padding, stage.in.width + 2 * c.padding};
  const std::size_t channels = count(bordered.channels), row = count(bordered.width) * channels;
  patch = {count(c.kernel), count(c.kernel) * channels, row};
  for (int y = 0; y < stage.middle.height; ++y) {
    for (int x = 0; x < stage.middle.width; ++x) {
      corners.push_back(
          static_cast<std::uint32_t>(count(y * c.stride) * row + count(x * c.stride) * channels));
    }
  }
}

template <class Copy>
void PatchGeometry::for_each_row(const Copy& copy) const {
  const std::size_t channels = count(bordered.channels), row = count(bordered.width) * channels;
  const std::size_t height = count(bordered.height) - 2 * padding;
  const std::size_t width = (count(bordered.width) - 2 * padding) * channels;
  if (padding == 0) return copy(std::size_t{0}, std::size_t{0}, height * row * sizeof(float));
  for (std::size_t y = 0; y < height; ++y) {
    copy(y * width, (y + padding) * row + padding * channels, width * sizeof(float));
  }
}

void PatchGeometry::put_inside(const float* image, float* with_border) const {
  for_each_row([&](std::size_t plain, std::size_t inside, std::size_t bytes) {
    std::memcpy(with_border + inside, image + plain, bytes);
  });
}

void PatchGeometry::take_inside(const float* with_border, float* image) const {
  for_each_row([&](std::size_t plain, std::size_t inside, std::size_t bytes) {
    std::memcpy(image + plain, with_border + inside, bytes);
  });
}

}  // namespace sfumato::lab
