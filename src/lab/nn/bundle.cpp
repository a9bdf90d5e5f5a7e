#include "lab/nn/bundle.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lab/nn/kernel/elementwise.hpp"

namespace sfumato::lab {

namespace {

std::size_t require_bundled(std::size_t models) {
  if (models != 1 && models != 2 && models != 4 && models != 8) {
    throw InvalidArgument("a bundle of " + std::to_string(models) + " models",
                          "Bundle 1, 2, 4 or 8 of them");
  }
  return models;
}

}  // namespace

Bundle::Bundle(const Network& network, std::size_t models)
    : models_(require_bundled(models)), passes_(network, models) {
  // The first block has the models side by side, the others one after the other.
  for (const ParameterBlock& block : network.blocks()) {
    const bool first = blocks_.empty();
    blocks_.emplace_back(block, first ? models : 1, first ? 1 : models);
  }
}

void Bundle::set_parameters(std::size_t model, std::span<const float> values) {
  for (BlockStore& block : blocks_) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      block.values.data()[in_store] = values[in_order];
    });
  }
}

void Bundle::get_parameters(std::size_t model, std::span<float> values) const {
  for (const BlockStore& block : blocks_) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      values[in_order] = block.values.data()[in_store];
    });
  }
}

void Bundle::get_gradient(std::size_t model, std::span<float> values) const {
  for (const BlockStore& block : blocks_) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      values[in_order] = block.gradient.data()[in_store];
    });
  }
}

void Bundle::add_to_gradient(std::size_t model, std::span<const float> values) {
  for (BlockStore& block : blocks_) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      block.gradient.data()[in_store] += values[in_order];
    });
  }
}

void Bundle::add_to_step(std::size_t model, std::span<const float> values, float learning_rate,
                         bool by_velocity) {
  for (BlockStore& block : blocks_) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      if (by_velocity) block.velocity.data()[in_store] += values[in_order];
      block.values.data()[in_store] -= learning_rate * values[in_order];
    });
  }
}

void Bundle::clip(std::vector<Clipping> by_model, std::span<const float> inverse_variances) {
  bool fits = by_model.size() == models_;
  for (const Clipping& clipping : by_model) {
    fits = fits && (clipping.clips.size() == 1 || clipping.clips.size() == blocks_.size());
    for (const double clip : clipping.clips) fits = fits && std::isfinite(clip) && clip > 0.0;
  }
  if (!fits) {
    throw InvalidArgument("clips that do not fit the models of a bundle",
                          "Give each model one positive clip, or one for each of its blocks");
  }
  passes_.clip(std::move(by_model), inverse_variances, blocks_);
}

void Bundle::compute_gradients(const BatchRows& rows, float* losses) {
  passes_.compute_gradients(rows, blocks_, losses);
}

void Bundle::evaluate(const InputRows& inputs, const std::uint8_t* labels, float* losses,
                      std::uint8_t* predicted) {
  passes_.evaluate(inputs, labels, blocks_, losses, predicted);
}

void Bundle::block_inputs(const InputRows& inputs, std::size_t block, float* rows) {
  passes_.block_inputs(inputs, blocks_, block, rows);
}

void Bundle::largest_gradients(std::size_t block, std::span<float> weights,
                               std::span<float> biases) const {
  const BlockStore& store = blocks_[block];
  const auto look = [&](std::size_t copy, std::size_t first_row, std::size_t rows,
                        std::span<float> largest) {
    float lanes[kernel::kLanesPerModelSet] = {};
    kernel::largest_absolute(
        store.gradient.data() + copy * store.matrix() + first_row * store.columns,
        rows * store.columns, lanes);
    for (std::size_t m = 0; m < store.models; ++m) {
      float most = 0.0F;
      for (std::size_t lane = m; lane < kernel::kLanesPerModelSet; lane += store.models) {
        most = std::max(most, lanes[lane]);
      }
      largest[copy + m] = most;
    }
  };
  for (std::size_t copy = 0; copy < store.copies; ++copy) {
    look(copy, 0, store.block.inputs, weights);
    look(copy, store.block.inputs, 1, biases);
  }
}

void Bundle::update(std::size_t block, float learning_rate, std::span<const NoiseScale> scales,
                    std::span<const NoiseScale> bias_scales, const float* normals,
                    const float* fixed) {
  BlockStore& store = blocks_[block];
  noisy_step(store, store.values.data(), learning_rate, scales, bias_scales, normals, fixed);
}

void Bundle::noisy_step(BlockStore& store, float* values, float learning_rate,
                        std::span<const NoiseScale> scales, std::span<const NoiseScale> bias_scales,
                        const float* normals, const float* fixed) {
  const std::size_t offset = store.block.offset;
  for (std::size_t copy = 0; copy < store.copies; ++copy) {
    const auto part = [&](std::size_t first, std::size_t rows,
                          std::span<const NoiseScale> of_models) {
      const std::size_t at = copy * store.matrix() + first * store.columns;
      const std::size_t draws = offset + first * store.block.outputs;
      kernel::NoisyUpdate task{values + at,
                               store.gradient.data() + at,
                               rows,
                               store.columns,
                               store.block.outputs,
                               store.models,
                               learning_rate,
                               normals == nullptr ? nullptr : normals + draws,
                               fixed == nullptr ? nullptr : fixed + draws,
                               {},
                               {},
                               {},
                               {},
                               {},
                               passes_.clips()};
      for (std::size_t lane = 0; lane < kernel::kLanesPerModelSet; ++lane) {
        const NoiseScale& scale = of_models[copy + lane % store.models];
        task.gradient_factor[lane] = scale.gradient_factor;
        task.floor[lane] = scale.floor;
        task.square_factor[lane] = scale.square_factor;
        task.constant[lane] = scale.constant;
        task.fixed_factor[lane] = scale.fixed_factor;
      }
      kernel::noisy_update(task);
    };
    part(0, store.block.inputs, scales);
    part(store.block.inputs, 1, bias_scales);
  }
}

void Bundle::update_by_velocity(std::size_t block, float momentum, float learning_rate,
                                std::span<const NoiseScale> scales, const float* normals,
                                const float* fixed) {
  BlockStore& store = blocks_[block];
  store.velocity.require(store.values.size());
  float *velocity = store.velocity.data(), *values = store.values.data();
  for (std::size_t i = 0; i < store.values.size(); ++i) velocity[i] *= momentum;
  noisy_step(store, velocity, -1.0F, scales, scales, normals, fixed);
  for (std::size_t i = 0; i < store.values.size(); ++i) values[i] -= learning_rate * velocity[i];
}

namespace {

void set(std::vector<BlockStore>& blocks, AlignedFloats BlockStore::*array, std::size_t model,
         std::span<const float> values) {
  for (BlockStore& block : blocks) {
    (block.*array).require(block.values.size());
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      (block.*array).data()[in_store] = values[in_order];
    });
  }
}

void get(std::vector<BlockStore>& blocks, AlignedFloats BlockStore::*array, std::size_t model,
         std::span<float> values) {
  for (BlockStore& block : blocks) {
    (block.*array).require(block.values.size());
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      values[in_order] = (block.*array).data()[in_store];
    });
  }
}

}  // namespace

void Bundle::set_velocity(std::size_t model, std::span<const float> values) {
  set(blocks_, &BlockStore::velocity, model, values);
}
void Bundle::get_velocity(std::size_t model, std::span<float> values) {
  get(blocks_, &BlockStore::velocity, model, values);
}
void Bundle::set_average(std::size_t model, std::span<const float> values) {
  set(blocks_, &BlockStore::average, model, values);
}
void Bundle::get_average(std::size_t model, std::span<float> values) {
  get(blocks_, &BlockStore::average, model, values);
}

void Bundle::add_to_average(std::uint64_t number) {
  const float share = 1.0F / static_cast<float>(number);
  for (BlockStore& store : blocks_) {
    store.average.require(store.values.size());
    float* average = store.average.data();
    const float* values = store.values.data();
    for (std::size_t i = 0; i < store.values.size(); ++i) {
      average[i] += share * (values[i] - average[i]);
    }
  }
}

void Bundle::adopt_average() {
  for (BlockStore& store : blocks_) {
    std::copy_n(store.average.data(), store.values.size(), store.values.data());
  }
}

}  // namespace sfumato::lab
