#include "lab/study/layer_rows.hpp"

#include <algorithm>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

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

}  // namespace sfumato::lab
