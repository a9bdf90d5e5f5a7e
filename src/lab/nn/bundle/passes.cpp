#include "lab/nn/bundle/passes.hpp"

#include <algorithm>

#include "lab/nn/bundle/weightless_layers.hpp"
#include "lab/nn/kernel/layout.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/kernel/pool.hpp"
#include "lab/nn/kernel/softmax.hpp"

namespace sfumato::lab {

using kernel::padded;

namespace {

/// The weights of a fixed core as a block that all models share.
BlockStore fixed_block(const Stage& stage) {
  const auto columns = static_cast<std::size_t>(stage.middle.channels);
  BlockStore store({0, 0, stage.fixed->size() / columns, columns}, 1, 1);
  for (std::size_t i = 0; i < stage.fixed->size(); ++i) {
    store.values.data()[i / columns * store.columns + i % columns] = (*stage.fixed)[i];
  }
  return store;
}

}  // namespace

Passes::Passes(const Network& network, std::size_t models)
    : models_(models),
      classes_(network.classes()),
      stages_(stages_of(network)),
      gradients_(2),
      shared_gradients_(models),
      zeroed_(models) {
  while (!stages_[shared_].trained()) ++shared_;
  convolutions_.resize(stages_.size());
  fixed_.resize(stages_.size());
  outputs_.resize(stages_.size());
  which_.resize(stages_.size());
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (stages_[s].core == Stage::Core::convolution) convolutions_[s].emplace(stages_[s]);
    if (stages_[s].fixed) fixed_[s].emplace(fixed_block(stages_[s]));
    outputs_[s].resize(s == shared_ ? models : 1);
    which_[s].resize(s == shared_ ? models : 1);
  }
}

/// Large batches are cut into pieces whose inputs stay in the second-level cache between the way
/// forwards and back. Pieces depend on the batch and the network only.
std::size_t Passes::piece_rows() const {
  constexpr std::size_t kCached = std::size_t{512} << 10, kUnit = 64;
  const std::size_t row = stages_.front().in.size() * sizeof(float);
  const std::size_t piece = std::max(kUnit, kCached / row / kUnit * kUnit);
  return clips() ? std::min(piece, kMostClippedRows) : piece;
}

void Passes::compute_gradients(const BatchRows& rows, std::vector<BlockStore>& blocks,
                               float* losses) {
  const std::size_t count = rows.inputs.count;
  const std::size_t piece = piece_rows();
  std::fill(zeroed_.begin(), zeroed_.end(), 0U);
  if (clips()) set_margin(std::min(piece, count), count);
  for (std::size_t from = 0; from < count; from += piece) {
    InputRows inputs = rows.inputs;
    inputs.count = std::min(piece, count - from);
    if (inputs.plain != nullptr) inputs.plain += from;
    if (inputs.sparse != nullptr) inputs.sparse += from;
    const BatchRows part{inputs, rows.labels + from, rows.row_weights + from,
                         rows.squared_inputs == nullptr ? nullptr : rows.squared_inputs + from};
    float* part_losses = losses == nullptr ? nullptr : losses + from;
    if (clips()) {
      clipped_piece(part, blocks, count, part_losses);
    } else {
      piece_gradients(part, blocks, count, part_losses);
    }
    if (count <= piece) return;
    for (BlockStore& block : blocks) {
      clips() ? block.add_to_clipped_total(from == 0) : block.add_to_total(from == 0);
    }
  }
  for (BlockStore& block : blocks) {
    clips() ? block.take_clipped_total() : std::swap(block.gradient, block.total);
  }
}

void Passes::piece_gradients(const BatchRows& rows, std::vector<BlockStore>& blocks,
                             std::size_t batch, float* losses) {
  const std::size_t count = rows.inputs.count;
  const Stage& first = stages_[shared_];
  const bool pooled = first.core == Stage::Core::convolution && first.pool == Stage::Pool::max;
  forward_shared(rows.inputs, blocks[0]);
  for (std::size_t m = 0; m < models_; ++m) {
    forward_rest(m, count, blocks);
    softmax(m, count, rows.labels, rows.row_weights + m * batch,
            losses == nullptr ? nullptr : losses + m * batch);
    for (std::size_t s = stages_.size(); --s > shared_;) backward(s, m, count, blocks);
    const float* output_gradient = core_gradient(shared_, m, count);
    if (pooled) {
      convolutions_[shared_]->pooled_gradient({count, output_gradient, which(shared_, m, 0)},
                                              blocks[0], m);
    }
  }
  if (pooled) return;
  join_shared_gradients(count, blocks[0]);
  if (rows.inputs.sparse != nullptr) {
    sparse_row_gradient(rows.inputs, blocks[0]);
  } else {
    dense_gradient(shared_, 0, count, joined_gradient_.data(), blocks[0]);
  }
}

void Passes::evaluate(const InputRows& inputs, const std::uint8_t* labels,
                      const std::vector<BlockStore>& blocks, float* losses,
                      std::uint8_t* predicted) {
  const std::size_t count = inputs.count;
  forward_shared(inputs, blocks[0]);
  ones_.assign(count, 1.0F);
  for (std::size_t m = 0; m < models_; ++m) {
    forward_rest(m, count, blocks);
    for (std::size_t r = 0; r < count; ++r) {
      const float* row = output(stages_.size() - 1, m, r);
      predicted[m * count + r] =
          static_cast<std::uint8_t>(std::max_element(row, row + classes_) - row);
    }
    softmax(m, count, labels, ones_.data(), losses + m * count);
  }
}

void Passes::block_inputs(const InputRows& inputs, const std::vector<BlockStore>& blocks,
                          std::size_t block, float* rows) {
  forward_shared(inputs, blocks[0]);
  forward_rest(0, inputs.count, blocks);
  std::size_t s = shared_;
  while (!stages_[s].trained() || stages_[s].block != block) ++s;
  const std::size_t size = stages_[s].in.size();
  const float* const* entering = inputs_of(s, 0, inputs.count);
  for (std::size_t r = 0; r < inputs.count; ++r) std::copy_n(entering[r], size, rows + r * size);
}

void Passes::make_room(std::size_t s, std::size_t rows) {
  const Stage& stage = stages_[s];
  for (AlignedFloats& values : outputs_[s]) values.require(rows * stride(s));
  if (stage.pool == Stage::Pool::max) {
    for (auto& values : which_[s]) values.resize(rows * stride(s) + kernel::kColumnUnit);
  }
  if (convolutions_[s]) convolutions_[s]->make_room(rows);
}

const float* const* Passes::inputs_of(std::size_t s, std::size_t m, std::size_t rows) {
  if (s == shared_) return first_inputs_.data();
  inputs_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) inputs_[r] = output(s - 1, m, r);
  return inputs_.data();
}

void Passes::forward_shared(const InputRows& inputs, const BlockStore& block) {
  const std::size_t rows = inputs.count;
  if (inputs.sparse != nullptr) {
    first_inputs_.clear();
    forward_sparse(inputs, block);
    return;
  }
  first_inputs_.assign(inputs.plain, inputs.plain + rows);
  for (std::size_t s = 0; s < shared_; ++s) {
    forward_bare(s, 0, first_inputs_.data(), rows);
    for (std::size_t r = 0; r < rows; ++r) first_inputs_[r] = output(s, 0, r);
  }
  forward_core(shared_, 0, models_, first_inputs_.data(), rows, block);
}

void Passes::forward_sparse(const InputRows& inputs, const BlockStore& block) {
  make_room(shared_, inputs.count);
  const std::size_t columns = block.columns;
  core_.require(inputs.count * columns);
  shifted_bias_.require(columns);
  kernel::rows_times_matrix({&inputs.shift, 1, 1, block.block.inputs, 0, block.weights(0), columns,
                             columns, block.bias(0), shifted_bias_.data(), columns});
  kernel::sparse_rows_times_matrix({inputs.sparse, inputs.count, block.block.inputs,
                                    block.weights(0), columns, columns, shifted_bias_.data(),
                                    core_.data(), columns});
  finish(shared_, 0, inputs.count, 0, models_, core_.data(), columns);
}

void Passes::forward_rest(std::size_t m, std::size_t rows, const std::vector<BlockStore>& blocks) {
  for (std::size_t s = shared_ + 1; s < stages_.size(); ++s) {
    const float* const* inputs = inputs_of(s, m, rows);
    if (stages_[s].core == Stage::Core::none) {
      forward_bare(s, m, inputs, rows);
    } else {
      forward_core(s, m, 1, inputs, rows, block_of(s, blocks));
    }
  }
}

/// A stage without parameters.
void Passes::forward_bare(std::size_t s, std::size_t m, const float* const* inputs,
                          std::size_t rows) {
  make_room(s, rows);
  for (std::size_t r = 0; r < rows; ++r) {
    finish(s, r, 1, m, 1, inputs[r], static_cast<std::size_t>(stages_[s].in.channels));
  }
}

/// A stage with parameters for `models` models from m on, whose inputs are the same.
void Passes::forward_core(std::size_t s, std::size_t m, std::size_t models,
                          const float* const* inputs, std::size_t rows, const BlockStore& block) {
  make_room(s, rows);
  if (stages_[s].core == Stage::Core::linear) {
    const bool alone = models == 1;  // then its columns are the output
    if (!alone) core_.require(rows * block.columns);
    float* out = alone ? output(s, m, 0) : core_.data();
    kernel::rows_times_matrix({inputs, rows, 1, block.block.inputs, 0, block.weights(m),
                               block.columns, block.columns, block.bias(m), out, block.columns});
    if (alone) {
      activate(stages_[s].activation, out, rows * stride(s));
    } else {
      finish(s, 0, rows, m, models, out, block.columns);
    }
    return;
  }
  core_.require(stages_[s].positions() * block.columns);
  for (std::size_t r = 0; r < rows; ++r) {
    convolutions_[s]->forward(r, inputs[r], block, m, core_.data());
    finish(s, r, 1, m, models, core_.data(), block.columns);
  }
}

/// Pool and activation of `rows` rows from r on, one unless they are of one pixel each: `values` are
/// positions of `columns` numbers of `models` models.
void Passes::finish(std::size_t s, std::size_t r, std::size_t rows, std::size_t m,
                    std::size_t models, const float* values, std::size_t columns) {
  const Stage& stage = stages_[s];
  const auto channels = static_cast<std::size_t>(stage.middle.channels);
  kernel::ModelLayout layout{rows * stage.positions(), channels, models, columns, channels};
  if (stage.positions() == 1) layout.stride = stride(s);
  float* out[8];
  std::int32_t* at[8];
  for (std::size_t i = 0; i < models; ++i) out[i] = output(s, m + i, r);
  if (stage.pool == Stage::Pool::average) {
    average_windows(stage, values, out[0]);
    return;
  }
  if (stage.pool == Stage::Pool::max) {
    layout.pixels = stage.out.size() / channels;
    pooled_.require(layout.pixels * columns);
    pooled_which_.resize(layout.pixels * columns + 8 * kernel::kColumnUnit);
    kernel::max_pool({values, static_cast<std::size_t>(stage.middle.width), columns,
                      stage.pool_size, static_cast<std::size_t>(stage.out.height),
                      static_cast<std::size_t>(stage.out.width), pooled_.data(),
                      pooled_which_.data()});
    values = pooled_.data();
    for (std::size_t i = 0; i < models; ++i) at[i] = which(s, m + i, r);
    kernel::separate(pooled_which_.data(), layout, at);
  }
  kernel::separate(values, layout, out);
  for (std::size_t i = 0; i < models; ++i) activate(stage.activation, out[i], rows * stride(s));
}

void Passes::softmax(std::size_t m, std::size_t rows, const std::uint8_t* labels,
                     const float* row_weights, float* losses) {
  const std::size_t last = stages_.size() - 1;
  gradient_of_output(last, m).require(rows * stride(last));
  kernel::softmax_rows({output(last, m, 0), gradient_of_output(last, m).data(), rows, classes_,
                        stride(last), labels, row_weights, losses});
}

/// The gradient of stage s's output before its activation, and before its pool if it has one.
float* Passes::core_gradient(std::size_t s, std::size_t m, std::size_t rows) {
  float* values = gradient_of_output(s, m).data();
  activation_backward(stages_[s].activation, output(s, m, 0), values, rows * stride(s));
  return values;
}

/// From the gradient of stage s's output to that of its input; the gradient of its block on the way.
void Passes::backward(std::size_t s, std::size_t m, std::size_t rows,
                      std::vector<BlockStore>& blocks) {
  const Stage& stage = stages_[s];
  const float* behind = core_gradient(s, m, rows);
  if (stage.trained()) {
    BlockStore& block = blocks[stage.block];
    if (stage.core == Stage::Core::linear) {
      dense_gradient(s, m, rows, behind, block);
    } else if (stage.pool == Stage::Pool::max) {
      convolutions_[s]->pooled_gradient({rows, behind, which(s, m, 0)}, block, m);
    } else {
      dense_gradient(s, m, rows, spread_positions(s, rows, behind, block), block);
    }
  }
  input_gradient(s, m, rows, blocks);
}

/// From core_gradient() of stage s to the gradient of its input.
void Passes::input_gradient(std::size_t s, std::size_t m, std::size_t rows,
                            const std::vector<BlockStore>& blocks) {
  const Stage& stage = stages_[s];
  const float* behind = gradient_of_output(s, m).data();
  const bool pooled = stage.pool == Stage::Pool::max;
  gradient_of_output(s - 1, m).require(rows * stride(s - 1));
  float* before = gradient_of_output(s - 1, m).data();
  if (stage.core == Stage::Core::none) {
    for (std::size_t r = 0; r < rows; ++r) {
      unpool(stage, behind + r * stride(s), pooled ? which(s, m, r) : nullptr,
             before + r * stride(s - 1));
    }
  } else if (stage.core == Stage::Core::linear) {
    linear_input_gradient(block_of(s, blocks), m, rows, behind, before);
  } else {
    convolutions_[s]->input_gradient({rows, behind, pooled ? which(s, m, 0) : nullptr},
                                     block_of(s, blocks), m, before);
  }
}

/// The gradients of all models behind the shared core, as its columns.
void Passes::join_shared_gradients(std::size_t rows, const BlockStore& block) {
  const std::size_t positions = stages_[shared_].positions(), channels = block.block.outputs;
  joined_gradient_.require(rows * positions * block.columns);
  const float* apart[8];
  kernel::ModelLayout layout{rows, channels, models_, block.columns, stride(shared_)};
  if (positions == 1) {
    for (std::size_t m = 0; m < models_; ++m) apart[m] = shared_gradients_[m].data();
    kernel::join(apart, layout, joined_gradient_.data());
    return;
  }
  layout.pixels = positions;
  layout.stride = channels;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t m = 0; m < models_; ++m) {
      apart[m] = shared_gradients_[m].data() + r * stride(shared_);
    }
    kernel::join(apart, layout, joined_gradient_.data() + r * positions * block.columns);
  }
}

void Passes::linear_input_gradient(const BlockStore& block, std::size_t m, std::size_t rows,
                                   const float* output_gradient, float* before) {
  const std::size_t outputs = block.block.outputs, step = padded(block.block.inputs);
  transposed_.require(outputs * step);
  kernel::transpose(block.weights(m), block.columns, block.block.inputs, outputs,
                    transposed_.data(), step);
  row_starts_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) row_starts_[r] = output_gradient + r * block.columns;
  kernel::rows_times_matrix({row_starts_.data(), rows, 1, outputs, 0, transposed_.data(), step,
                             step, nullptr, before, step});
}

/// Gradient of a block from that of its core's output, rows of (positions x columns).
void Passes::dense_gradient(std::size_t s, std::size_t m, std::size_t rows,
                            const float* output_gradient, BlockStore& block) {
  bias_gradient(m, rows * stages_[s].positions(), output_gradient, block);
  if (stages_[s].core == Stage::Core::convolution) {
    convolutions_[s]->dense_gradient(rows, output_gradient, block, m);
    return;
  }
  kernel::transpose_times_matrix({inputs_of(s, m, rows), rows, block.block.inputs, output_gradient,
                                  block.columns, block.columns, block.weight_gradient(m),
                                  block.columns});
}

void Passes::sparse_row_gradient(const InputRows& inputs, BlockStore& block) {
  const std::size_t columns = block.columns;
  bias_gradient(0, inputs.count, joined_gradient_.data(), block);
  kernel::sparse_transpose_times_matrix(
      {inputs.sparse, inputs.count, block.block.inputs, joined_gradient_.data(), columns, columns,
       inputs.shift, block.bias_gradient(0), block.weight_gradient(0), columns, &rows_of_groups_});
}

/// Gradient of the biases: the sum of `terms` rows.
void Passes::bias_gradient(std::size_t m, std::size_t terms, const float* output_gradient,
                           BlockStore& block) {
  static constexpr float kOne = 1.0F;
  row_starts_.assign(terms, &kOne);
  kernel::transpose_times_matrix({row_starts_.data(), terms, 1, output_gradient, block.columns,
                                  block.columns, block.bias_gradient(m), block.columns});
}

/// Gradient of a convolution's output pixels as rows of padded columns.
const float* Passes::spread_positions(std::size_t s, std::size_t rows, const float* output_gradient,
                                      const BlockStore& block) {
  const Stage& stage = stages_[s];
  const std::size_t channels = block.block.outputs, positions = stage.positions();
  spread_.require(rows * positions * block.columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t p = 0; p < positions; ++p) {
      float* to = spread_.data() + (r * positions + p) * block.columns;
      std::copy_n(output_gradient + r * stride(s) + p * channels, channels, to);
      std::fill(to + channels, to + block.columns, 0.0F);
    }
  }
  return spread_.data();
}

}  // namespace sfumato::lab
