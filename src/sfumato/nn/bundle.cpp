#include "sfumato/nn/bundle.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sfumato/nn/aligned_floats.hpp"
#include "sfumato/nn/kernel/elementwise.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/nn/kernel/patches.hpp"
#include "sfumato/nn/kernel/pool.hpp"
#include "sfumato/nn/stage.hpp"

namespace sfumato {

using kernel::padded;

namespace {

/// Weights and biases (the last row) of one block, and their gradients.
struct BlockStore {
  ParameterBlock block;
  std::size_t models;   ///< side by side in a row: all of the bundle, or one
  std::size_t copies;   ///< matrices, one after the other: one, or one per model
  std::size_t columns;  ///< of a row, padded
  AlignedFloats values, gradient;
  AlignedFloats total = {};  ///< of the pieces of a batch, where it has several

  BlockStore(const ParameterBlock& b, std::size_t side_by_side, std::size_t matrices)
      : block(b),
        models(side_by_side),
        copies(matrices),
        columns(padded(b.outputs * side_by_side)),
        values(matrices * (b.inputs + 1) * columns),
        gradient(matrices * (b.inputs + 1) * columns) {}

  [[nodiscard]] std::size_t matrix() const { return (block.inputs + 1) * columns; }
  [[nodiscard]] std::size_t copy_of(std::size_t model) const { return copies == 1 ? 0 : model; }
  [[nodiscard]] float* weights(std::size_t model) {
    return values.data() + copy_of(model) * matrix();
  }
  [[nodiscard]] float* slope(std::size_t model) {
    return gradient.data() + copy_of(model) * matrix();
  }

  void add_to_total(bool first) {
    if (first) {
      total.require(gradient.size());
      std::swap(total, gradient);
      return;
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) total.data()[i] += gradient.data()[i];
  }

  /// Calls move(number in the store, number in the network's order) for every parameter of a model.
  template <class Move>
  void for_each(std::size_t model, const Move& move) const {
    const std::size_t lane = copies == 1 ? model : 0;
    for (std::size_t row = 0; row <= block.inputs; ++row) {
      const std::size_t in_store = copy_of(model) * matrix() + row * columns + lane;
      const std::size_t in_order = block.offset + row * block.outputs;
      for (std::size_t n = 0; n < block.outputs; ++n) move(in_store + n * models, in_order + n);
    }
  }
};

/// A convolution's own memory.
struct ConvolutionStore {
  PatchGeometry geometry;
  std::vector<std::uint32_t>
      pooled_corners;             ///< by (output pixel of the pool, pixel of its window)
  AlignedFloats images;           ///< inputs with their border, row by row
  AlignedFloats slopes;           ///< one image of the gradient of the input
  AlignedFloats channel_weights;  ///< weights by output channel
  AlignedFloats patch;            ///< gradient of one channel's weights
  std::vector<kernel::PatchTerm> terms;
  std::vector<kernel::PatchRun> runs;
  std::vector<std::uint32_t> run_channels;
  std::vector<float> run_values;
  std::vector<const float*> corners;

  explicit ConvolutionStore(const Stage& stage)
      : geometry(stage),
        slopes(geometry.bordered.size()),
        channel_weights(static_cast<std::size_t>(stage.middle.channels) * geometry.patch.segments *
                        padded(geometry.patch.segment)),
        patch(geometry.patch.segments * padded(geometry.patch.segment)) {
    const std::size_t size = stage.pool == Stage::Pool::max ? stage.pool_size : 1;
    const auto width = static_cast<std::size_t>(stage.middle.width);
    for (int y = 0; y < stage.out.height; ++y) {
      for (int x = 0; x < stage.out.width; ++x) {
        for (std::size_t i = 0; i < size * size; ++i) {
          const std::size_t row = static_cast<std::size_t>(y) * size + i / size;
          const std::size_t column = static_cast<std::size_t>(x) * size + i % size;
          pooled_corners.push_back(geometry.corners[row * width + column]);
        }
      }
    }
  }
  [[nodiscard]] float* image(std::size_t row) {
    return images.data() + row * geometry.bordered.size();
  }
};

void activate(Stage::Activation activation, float* values, std::size_t count) {
  if (activation == Stage::Activation::relu) {
    for (std::size_t i = 0; i < count; ++i) values[i] = values[i] > 0.0F ? values[i] : 0.0F;
  } else if (activation == Stage::Activation::tanh) {
    for (std::size_t i = 0; i < count; ++i) values[i] = std::tanh(values[i]);
  }
}

/// slope <- slope times the activation's derivative, which its own output tells.
void deactivate(Stage::Activation activation, const float* output, float* slope,
                std::size_t count) {
  if (activation == Stage::Activation::relu) {
    for (std::size_t i = 0; i < count; ++i) slope[i] = output[i] > 0.0F ? slope[i] : 0.0F;
  } else if (activation == Stage::Activation::tanh) {
    for (std::size_t i = 0; i < count; ++i) slope[i] *= 1.0F - output[i] * output[i];
  }
}

}  // namespace

class Bundle::Implementation {
 public:
  Implementation(const Network& network, std::size_t models)
      : models_(models), classes_(network.classes()), stages_(stages_of(network)) {
    while (stages_[shared_].core == Stage::Core::none) ++shared_;
    for (std::size_t b = 0; b < network.blocks().size(); ++b) {
      blocks_.emplace_back(network.blocks()[b], b == 0 ? models : 1, b == 0 ? 1 : models);
    }
    convolutions_.resize(stages_.size());
    outputs_.resize(stages_.size());
    which_.resize(stages_.size());
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (stages_[s].core == Stage::Core::convolution) convolutions_[s].emplace(stages_[s]);
      outputs_[s].resize(s == shared_ ? models : 1);
      which_[s].resize(s == shared_ ? models : 1);
    }
  }

  [[nodiscard]] std::size_t models() const { return models_; }
  [[nodiscard]] bool reads_sparse_rows() const {
    return shared_ == 0 && stages_[0].core == Stage::Core::linear;
  }
  [[nodiscard]] std::vector<BlockStore>& blocks() { return blocks_; }

  /// Large batches are cut into pieces whose inputs stay in the second-level cache between the way
  /// forwards and back. Pieces depend on the batch and the network only.
  void compute_gradients(const BatchRows& rows, float* losses) {
    const std::size_t count = rows.inputs.count;
    const std::size_t piece = piece_rows();
    for (std::size_t from = 0; from < count; from += piece) {
      InputRows inputs = rows.inputs;
      inputs.count = std::min(piece, count - from);
      if (inputs.plain != nullptr) inputs.plain += from;
      if (inputs.sparse != nullptr) inputs.sparse += from;
      piece_gradients({inputs, rows.labels + from, rows.weights + from}, count,
                      losses == nullptr ? nullptr : losses + from);
      if (count <= piece) return;
      for (BlockStore& block : blocks_) block.add_to_total(from == 0);
    }
    for (BlockStore& block : blocks_) std::swap(block.gradient, block.total);
  }

  [[nodiscard]] std::size_t piece_rows() const {
    constexpr std::size_t kCached = std::size_t{512} << 10, kUnit = 64;
    const std::size_t row = stages_.front().in.size() * sizeof(float);
    return std::max(kUnit, kCached / row / kUnit * kUnit);
  }

  /// Gradients of some rows of a batch of `batch`, by which weights and losses of models are apart.
  void piece_gradients(const BatchRows& rows, std::size_t batch, float* losses) {
    const std::size_t count = rows.inputs.count;
    forward_shared(rows.inputs);
    const Stage& first = stages_[shared_];
    const BlockStore& block = blocks_[0];
    const bool dense = !(first.core == Stage::Core::convolution && first.pool == Stage::Pool::max);
    const std::size_t shared_row = first.positions() * block.columns;
    if (dense) shared_slope_.require(count * shared_row);
    for (std::size_t m = 0; m < models_; ++m) {
      forward_rest(m, count);
      float* logits = logits_of(m, count);
      kernel::softmax_rows({logits, count, classes_, padded(classes_), rows.labels,
                            rows.weights + m * batch,
                            losses == nullptr ? nullptr : losses + m * batch});
      float* slope = logits;
      for (std::size_t s = stages_.size(); --s > shared_;) {
        slope = backward(s, m, count, slope);
      }
      if (dense) {
        gather_shared_slope(m, count, slope);
      } else {
        finish_slope(shared_, m, count, slope);
        sparse_gradient(shared_, m, count, slope);
      }
    }
    if (rows.inputs.sparse != nullptr) {
      sparse_row_gradient(rows.inputs);
    } else if (dense) {
      dense_gradient(shared_, 0, count, shared_slope_.data());
    }
  }

  void evaluate(const InputRows& inputs, const std::uint8_t* labels, float* losses,
                std::uint8_t* predicted) {
    const std::size_t count = inputs.count;
    forward_shared(inputs);
    ones_.assign(count, 1.0F);
    for (std::size_t m = 0; m < models_; ++m) {
      forward_rest(m, count);
      float* logits = logits_of(m, count);
      for (std::size_t r = 0; r < count; ++r) {
        const float* row = logits + r * padded(classes_);
        predicted[m * count + r] =
            static_cast<std::uint8_t>(std::max_element(row, row + classes_) - row);
      }
      kernel::softmax_rows(
          {logits, count, classes_, padded(classes_), labels, ones_.data(), losses + m * count});
    }
  }

 private:
  [[nodiscard]] static std::size_t stride(const Shape& shape) { return padded(shape.size()); }
  /// Output of stage s, row r, of model m; the stages behind the shared one keep one model's.
  [[nodiscard]] float* output(std::size_t s, std::size_t m, std::size_t r) {
    return outputs_[s][s == shared_ ? m : 0].data() + r * stages_[s].out.size();
  }
  [[nodiscard]] std::int32_t* which(std::size_t s, std::size_t m, std::size_t r) {
    return which_[s][s == shared_ ? m : 0].data() + r * stages_[s].out.size();
  }

  void make_room(std::size_t s, std::size_t rows) {
    const Stage& stage = stages_[s];
    for (AlignedFloats& values : outputs_[s]) values.require(rows * stage.out.size());
    if (stage.pool == Stage::Pool::max) {
      for (auto& values : which_[s]) values.resize(rows * stage.out.size());
    }
    if (convolutions_[s]) {
      convolutions_[s]->images.require(rows * convolutions_[s]->geometry.bordered.size());
    }
  }

  /// Pool and activation of `rows` rows from r on, one unless there is no pool: `values` are positions
  /// of `columns` numbers of `models` models.
  void finish(std::size_t s, std::size_t r, std::size_t rows, std::size_t m, std::size_t models,
              const float* values, std::size_t columns) {
    const Stage& stage = stages_[s];
    const auto channels = static_cast<std::size_t>(stage.middle.channels);
    std::size_t pixels = rows * stage.positions();
    float* out[8];
    std::int32_t* at[8];
    for (std::size_t i = 0; i < models; ++i) out[i] = output(s, m + i, r);
    if (stage.pool == Stage::Pool::average) {
      average(stage, values, out[0]);
      return;
    }
    if (stage.pool == Stage::Pool::max) {
      pixels = stage.out.size() / channels;
      pooled_.require(pixels * columns);
      pooled_which_.resize(pixels * columns + kernel::kColumnUnit);
      kernel::max_pool({values, static_cast<std::size_t>(stage.middle.width), columns,
                        stage.pool_size, static_cast<std::size_t>(stage.out.height),
                        static_cast<std::size_t>(stage.out.width), pooled_.data(),
                        pooled_which_.data()});
      values = pooled_.data();
      for (std::size_t i = 0; i < models; ++i) at[i] = which(s, m + i, r);
      separate_pixels(pooled_which_.data(), pixels, channels, columns, models, at);
    }
    separate_pixels(values, pixels, channels, columns, models, out);
    for (std::size_t i = 0; i < models; ++i) {
      activate(stage.activation, output(s, m + i, r), rows * stage.out.size());
    }
  }

  template <class T>
  static void separate_pixels(const T* values, std::size_t pixels, std::size_t channels,
                              std::size_t columns, std::size_t models, T** out) {
    if (columns == channels * models) {
      kernel::separate(values, pixels * channels, models, out);
      return;
    }
    T* to[8];
    for (std::size_t p = 0; p < pixels; ++p) {
      for (std::size_t i = 0; i < models; ++i) to[i] = out[i] + p * channels;
      kernel::separate(values + p * columns, channels, models, to);
    }
  }

  static void average(const Stage& stage, const float* values, float* out) {
    const auto channels = static_cast<std::size_t>(stage.in.channels);
    const std::size_t size = stage.pool_size, row = static_cast<std::size_t>(stage.in.width);
    const auto width = static_cast<std::size_t>(stage.out.width);
    const float factor = 1.0F / static_cast<float>(size * size);
    for (std::size_t i = 0; i < stage.out.size(); ++i) {
      const std::size_t pixel = i / channels, c = i % channels;
      float sum = 0.0F;
      for (std::size_t j = 0; j < size * size; ++j) {
        const std::size_t y = pixel / width * size + j / size, x = pixel % width * size + j % size;
        sum += values[(y * row + x) * channels + c];
      }
      out[i] = sum * factor;
    }
  }

  /// Stage s for `models` models from m on, whose inputs are the same.
  void forward(std::size_t s, std::size_t m, std::size_t models, const float* const* inputs,
               std::size_t rows) {
    make_room(s, rows);
    const Stage& stage = stages_[s];
    if (stage.core == Stage::Core::none) {
      for (std::size_t r = 0; r < rows; ++r) {
        finish(s, r, 1, m, 1, inputs[r], static_cast<std::size_t>(stage.in.channels));
      }
      return;
    }
    BlockStore& block = blocks_[stage.block];
    const float* weights = block.weights(m);
    const float* bias = weights + block.block.inputs * block.columns;
    if (stage.core == Stage::Core::linear) {
      core_.require(rows * block.columns);
      kernel::rows_times_matrix({inputs, rows, 1, block.block.inputs, 0, weights, block.columns,
                                 block.columns, bias, core_.data(), block.columns});
      finish(s, 0, rows, m, models, core_.data(), block.columns);
      return;
    }
    ConvolutionStore& c = *convolutions_[s];
    const std::size_t positions = stage.positions();
    core_.require(positions * block.columns);
    c.corners.resize(positions);
    for (std::size_t r = 0; r < rows; ++r) {
      float* image = c.image(r);
      c.geometry.put_inside(inputs[r], image);
      for (std::size_t p = 0; p < positions; ++p) c.corners[p] = image + c.geometry.corners[p];
      kernel::rows_times_matrix({c.corners.data(), positions, c.geometry.patch.segments,
                                 c.geometry.patch.segment, c.geometry.patch.stride, weights,
                                 block.columns, block.columns, bias, core_.data(), block.columns});
      finish(s, r, 1, m, models, core_.data(), block.columns);
    }
  }

  void forward_shared(const InputRows& inputs) {
    const std::size_t rows = inputs.count;
    if (inputs.sparse != nullptr) {
      forward_sparse(inputs);
      return;
    }
    first_inputs_.assign(inputs.plain, inputs.plain + rows);
    for (std::size_t s = 0; s < shared_; ++s) {
      forward(s, 0, 1, first_inputs_.data(), rows);
      for (std::size_t r = 0; r < rows; ++r) first_inputs_[r] = output(s, 0, r);
    }
    forward(shared_, 0, models_, first_inputs_.data(), rows);
  }

  void forward_sparse(const InputRows& inputs) {
    make_room(shared_, inputs.count);
    BlockStore& block = blocks_[0];
    const std::size_t columns = block.columns;
    const float* weights = block.weights(0);
    core_.require(inputs.count * columns);
    shifted_bias_.require(columns);
    kernel::rows_times_matrix({&inputs.shift, 1, 1, block.block.inputs, 0, weights, columns,
                               columns, weights + block.block.inputs * columns,
                               shifted_bias_.data(), columns});
    kernel::sparse_rows_times_matrix({inputs.sparse, inputs.count, block.block.inputs, weights,
                                      columns, columns, shifted_bias_.data(), core_.data(),
                                      columns});
    finish(shared_, 0, inputs.count, 0, models_, core_.data(), columns);
  }

  void sparse_row_gradient(const InputRows& inputs) {
    BlockStore& block = blocks_[0];
    const std::size_t columns = block.columns;
    float* bias = block.slope(0) + block.block.inputs * columns;
    static constexpr float kOne = 1.0F;
    row_starts_.assign(inputs.count, &kOne);
    kernel::transpose_times_matrix({row_starts_.data(), inputs.count, 1, shared_slope_.data(),
                                    columns, columns, bias, columns});
    kernel::sparse_transpose_times_matrix({inputs.sparse, inputs.count, block.block.inputs,
                                           shared_slope_.data(), columns, columns, inputs.shift,
                                           bias, block.slope(0), columns, &rows_of_groups_});
  }

  void forward_rest(std::size_t m, std::size_t rows) {
    for (std::size_t s = shared_ + 1; s < stages_.size(); ++s) {
      forward(s, m, 1, inputs_of(s, m, rows), rows);
    }
  }

  const float* const* inputs_of(std::size_t s, std::size_t m, std::size_t rows) {
    if (s == shared_) return first_inputs_.data();
    inputs_.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) inputs_[r] = output(s - 1, m, r);
    return inputs_.data();
  }

  /// A copy of the last stage's output, to become its slope.
  float* logits_of(std::size_t m, std::size_t rows) {
    const std::size_t step = padded(classes_);
    slopes_[0].require(rows * step);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(output(stages_.size() - 1, m, r), classes_, slopes_[0].data() + r * step);
    }
    return slopes_[0].data();
  }

  /// The slope behind the activation becomes the one before it; zeros in the padding.
  void finish_slope(std::size_t s, std::size_t m, std::size_t rows, float* slope) {
    const Stage& stage = stages_[s];
    const std::size_t size = stage.out.size(), step = stride(stage.out);
    for (std::size_t r = 0; r < rows; ++r) {
      deactivate(stage.activation, output(s, m, r), slope + r * step, size);
      std::fill(slope + r * step + size, slope + (r + 1) * step, 0.0F);
    }
  }

  /// From the slope of stage s's output to that of its input; the gradient of its block on the way.
  float* backward(std::size_t s, std::size_t m, std::size_t rows, float* slope) {
    const Stage& stage = stages_[s];
    finish_slope(s, m, rows, slope);
    AlignedFloats& other = slope == slopes_[0].data() ? slopes_[1] : slopes_[0];
    const std::size_t step = stride(stage.in);
    other.require(rows * step);
    float* before = other.data();
    switch (stage.core) {
      case Stage::Core::none: unpool(s, m, rows, slope, before); break;
      case Stage::Core::linear: {
        BlockStore& block = blocks_[stage.block];
        dense_gradient(s, m, rows, slope);
        transposed_.require(block.block.outputs * step);
        std::fill_n(transposed_.data(), block.block.outputs * step, 0.0F);
        kernel::transpose(block.weights(m), block.columns, block.block.inputs, block.block.outputs,
                          transposed_.data(), step);
        row_starts_.resize(rows);
        for (std::size_t r = 0; r < rows; ++r) row_starts_[r] = slope + r * block.columns;
        kernel::rows_times_matrix({row_starts_.data(), rows, 1, block.block.outputs, 0,
                                   transposed_.data(), step, step, nullptr, before, step});
        break;
      }
      case Stage::Core::convolution:
        if (stage.pool == Stage::Pool::max) {
          sparse_gradient(s, m, rows, slope);
        } else {
          spread_positions(s, rows, slope);
          dense_gradient(s, m, rows, spread_.data());
        }
        convolution_slope(s, m, rows, slope, before);
        break;
    }
    return before;
  }

  void unpool(std::size_t s, std::size_t m, std::size_t rows, const float* slope, float* before) {
    const Stage& stage = stages_[s];
    const auto channels = static_cast<std::size_t>(stage.in.channels);
    const auto out_width = static_cast<std::size_t>(stage.out.width);
    const std::size_t size = stage.pool_size, in_width = static_cast<std::size_t>(stage.in.width);
    const float factor = 1.0F / static_cast<float>(size * size);
    for (std::size_t r = 0; r < rows; ++r) {
      const float* from = slope + r * stride(stage.out);
      float* to = before + r * stride(stage.in);
      if (stage.pool == Stage::Pool::none) {
        std::copy_n(from, stride(stage.out), to);
        continue;
      }
      std::fill_n(to, stride(stage.in), 0.0F);
      for (std::size_t i = 0; i < stage.out.size(); ++i) {
        const std::size_t pixel = i / channels, c = i % channels;
        const auto put = [&](std::size_t j, float value) {
          const std::size_t y = pixel / out_width * size + j / size;
          const std::size_t x = pixel % out_width * size + j % size;
          to[(y * in_width + x) * channels + c] = value;
        };
        if (stage.pool == Stage::Pool::max) {
          put(static_cast<std::size_t>(which(s, m, r)[i]), from[i]);
        } else {
          for (std::size_t j = 0; j < size * size; ++j) put(j, from[i] * factor);
        }
      }
    }
  }

  /// Gradient of a block from the slope of its core's output, rows of (positions x columns).
  void dense_gradient(std::size_t s, std::size_t m, std::size_t rows, const float* slope) {
    const Stage& stage = stages_[s];
    BlockStore& block = blocks_[stage.block];
    float* gradient = block.slope(m);
    const std::size_t columns = block.columns, terms = rows * stage.positions();
    static constexpr float kOne = 1.0F;
    row_starts_.assign(terms, &kOne);
    kernel::transpose_times_matrix({row_starts_.data(), terms, 1, slope, columns, columns,
                                    gradient + block.block.inputs * columns, columns});
    if (stage.core == Stage::Core::linear) {
      kernel::transpose_times_matrix({inputs_of(s, m, rows), rows, block.block.inputs, slope,
                                      columns, columns, gradient, columns});
      return;
    }
    ConvolutionStore& c = *convolutions_[s];
    const kernel::PatchShape& patch = c.geometry.patch;
    for (std::size_t segment = 0; segment < patch.segments; ++segment) {
      std::size_t term = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        const float* image = c.image(r) + segment * patch.stride;
        for (const std::uint32_t corner : c.geometry.corners) row_starts_[term++] = image + corner;
      }
      kernel::transpose_times_matrix({row_starts_.data(), terms, patch.segment, slope, columns,
                                      columns, gradient + segment * patch.segment * columns,
                                      columns});
    }
  }

  /// Gradient of a convolution behind a max pool, channel by channel: only the pixels that won their
  /// window count.
  void sparse_gradient(std::size_t s, std::size_t m, std::size_t rows, const float* slope) {
    const Stage& stage = stages_[s];
    BlockStore& block = blocks_[stage.block];
    ConvolutionStore& c = *convolutions_[s];
    const kernel::PatchShape& patch = c.geometry.patch;
    const std::size_t channels = block.block.outputs, pixels = stage.out.size() / channels;
    const std::size_t window = stage.pool_size * stage.pool_size;
    const std::size_t image_size = c.geometry.bordered.size();
    const std::size_t lane = block.copies == 1 ? m : 0;
    float* gradient = block.slope(m);
    c.terms.resize(rows * pixels + 1);
    for (std::size_t channel = 0; channel < channels; ++channel) {
      std::size_t count = 0;
      float bias = 0.0F;
      for (std::size_t r = 0; r < rows; ++r) {
        const float* values = slope + r * stride(stage.out) + channel;
        const std::int32_t* at = which(s, m, r) + channel;
        const auto image = static_cast<std::uint32_t>(r * image_size);
        for (std::size_t p = 0; p < pixels; ++p) {
          const float value = values[p * channels];
          c.terms[count] = {
              image + c.pooled_corners[p * window + static_cast<std::size_t>(at[p * channels])],
              value};
          count += value != 0.0F ? 1 : 0;
          bias += value;
        }
      }
      kernel::sum_patches(c.images.data(), c.terms.data(), count, patch, c.patch.data());
      float* to = gradient + channel * block.models + lane;
      for (std::size_t segment = 0; segment < patch.segments; ++segment) {
        const float* from = c.patch.data() + segment * padded(patch.segment);
        for (std::size_t j = 0; j < patch.segment; ++j, to += block.columns) *to = from[j];
      }
      *to = bias;
    }
  }

  /// Slope of a convolution's output pixels as rows of padded columns.
  void spread_positions(std::size_t s, std::size_t rows, const float* slope) {
    const Stage& stage = stages_[s];
    const BlockStore& block = blocks_[stage.block];
    const std::size_t channels = block.block.outputs, positions = stage.positions();
    spread_.require(rows * positions * block.columns);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t p = 0; p < positions; ++p) {
        float* to = spread_.data() + (r * positions + p) * block.columns;
        std::copy_n(slope + r * stride(stage.out) + p * channels, channels, to);
        std::fill(to + channels, to + block.columns, 0.0F);
      }
    }
  }

  /// Slope of a convolution's input, image by image.
  void convolution_slope(std::size_t s, std::size_t m, std::size_t rows, const float* slope,
                         float* before) {
    const Stage& stage = stages_[s];
    BlockStore& block = blocks_[stage.block];
    ConvolutionStore& c = *convolutions_[s];
    const kernel::PatchShape& patch = c.geometry.patch;
    const std::size_t channels = block.block.outputs, pixels = stage.out.size() / channels;
    const std::size_t segment_step = padded(patch.segment);
    for (std::size_t segment = 0; segment < patch.segments; ++segment) {
      kernel::transpose(block.weights(m) + segment * patch.segment * block.columns, block.columns,
                        patch.segment, channels, c.channel_weights.data() + segment * segment_step,
                        patch.segments * segment_step);
    }
    const bool pooled = stage.pool == Stage::Pool::max;
    const std::size_t window = pooled ? stage.pool_size * stage.pool_size : 1;
    winners_.resize(window * channels);
    counts_.resize(window);
    c.run_channels.resize(pixels * channels);
    c.run_values.resize(pixels * channels);
    for (std::size_t r = 0; r < rows; ++r) {
      const float* values = slope + r * stride(stage.out);
      const std::int32_t* at = pooled ? which(s, m, r) : nullptr;
      c.runs.clear();
      std::uint32_t used = 0;
      for (std::size_t p = 0; p < pixels; ++p) {
        std::fill(counts_.begin(), counts_.end(), 0U);
        for (std::size_t channel = 0; channel < channels; ++channel) {
          const std::size_t i = p * channels + channel;
          const std::size_t w = pooled ? static_cast<std::size_t>(at[i]) : 0;
          winners_[w * channels + counts_[w]] = static_cast<std::uint32_t>(channel);
          counts_[w] += values[i] != 0.0F ? 1U : 0U;
        }
        for (std::size_t w = 0; w < window; ++w) {
          if (counts_[w] == 0) continue;
          c.runs.push_back({c.pooled_corners[p * window + w], used, counts_[w]});
          for (std::uint32_t k = 0; k < counts_[w]; ++k, ++used) {
            c.run_channels[used] = winners_[w * channels + k];
            c.run_values[used] = values[p * channels + winners_[w * channels + k]];
          }
        }
      }
      std::fill_n(c.slopes.data(), c.geometry.bordered.size(), 0.0F);
      kernel::scatter_patches(c.runs.data(), c.runs.size(), c.run_channels.data(),
                              c.run_values.data(), c.channel_weights.data(), patch,
                              c.slopes.data());
      c.geometry.take_inside(c.slopes.data(), before + r * stride(stage.in));
    }
  }

  /// One model's slope of the shared stage, before the activation, into the columns of all.
  void gather_shared_slope(std::size_t m, std::size_t rows, const float* slope) {
    const Stage& stage = stages_[shared_];
    const std::size_t columns = blocks_[0].columns, channels = blocks_[0].block.outputs;
    const std::size_t positions = stage.positions(), step = stride(stage.out);
    const auto spread = [&](const auto& before) {
      for (std::size_t r = 0; r < rows; ++r) {
        const float* from = slope + r * step;
        const float* value = output(shared_, m, r);
        float* to = shared_slope_.data() + r * positions * columns + m;
        for (std::size_t p = 0; p < positions; ++p, to += columns) {
          for (std::size_t c = 0; c < channels; ++c) {
            to[c * models_] = before(from[p * channels + c], value[p * channels + c]);
          }
        }
      }
    };
    switch (stage.activation) {
      case Stage::Activation::none: return spread([](float d, float) { return d; });
      case Stage::Activation::relu:
        return spread([](float d, float value) { return value > 0.0F ? d : 0.0F; });
      case Stage::Activation::tanh:
        return spread([](float d, float value) { return d * (1.0F - value * value); });
    }
  }

  std::size_t models_, classes_;
  std::vector<Stage> stages_;
  std::size_t shared_ = 0;  ///< the first stage with parameters
  std::vector<BlockStore> blocks_;
  std::vector<std::optional<ConvolutionStore>> convolutions_;
  std::vector<std::vector<AlignedFloats>> outputs_;
  std::vector<std::vector<std::vector<std::int32_t>>> which_;
  AlignedFloats core_, shifted_bias_, pooled_, slopes_[2], shared_slope_, transposed_, spread_;
  std::vector<std::int32_t> pooled_which_;
  std::vector<const float*> first_inputs_, inputs_, row_starts_;
  std::vector<float> ones_;
  std::vector<std::uint32_t> winners_, counts_;
  std::vector<std::uint64_t> rows_of_groups_;
};

Bundle::Bundle(const Network& network, std::size_t models) {
  if (models != 1 && models != 2 && models != 4 && models != 8) {
    throw InvalidArgument("a bundle of " + std::to_string(models) + " models",
                          "Bundle 1, 2, 4 or 8 of them");
  }
  implementation_ = std::make_unique<Implementation>(network, models);
}
Bundle::Bundle(Bundle&&) noexcept = default;
Bundle& Bundle::operator=(Bundle&&) noexcept = default;
Bundle::~Bundle() = default;

std::size_t Bundle::models() const { return implementation_->models(); }
bool Bundle::reads_sparse_rows() const { return implementation_->reads_sparse_rows(); }

void Bundle::set_parameters(std::size_t model, std::span<const float> values) {
  for (BlockStore& block : implementation_->blocks()) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      block.values.data()[in_store] = values[in_order];
    });
  }
}

void Bundle::get_parameters(std::size_t model, std::span<float> values) const {
  for (const BlockStore& block : implementation_->blocks()) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      values[in_order] = block.values.data()[in_store];
    });
  }
}

void Bundle::get_gradient(std::size_t model, std::span<float> values) const {
  for (const BlockStore& block : implementation_->blocks()) {
    block.for_each(model, [&](std::size_t in_store, std::size_t in_order) {
      values[in_order] = block.gradient.data()[in_store];
    });
  }
}

void Bundle::compute_gradients(const BatchRows& rows, float* losses) {
  implementation_->compute_gradients(rows, losses);
}

void Bundle::evaluate(const InputRows& inputs, const std::uint8_t* labels, float* losses,
                      std::uint8_t* predicted) {
  implementation_->evaluate(inputs, labels, losses, predicted);
}

void Bundle::largest_gradients(std::size_t block, std::span<float> weights,
                               std::span<float> biases) const {
  const BlockStore& store = implementation_->blocks()[block];
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
  BlockStore& store = implementation_->blocks()[block];
  const std::size_t offset = store.block.offset;
  for (std::size_t copy = 0; copy < store.copies; ++copy) {
    const auto part = [&](std::size_t first, std::size_t rows,
                          std::span<const NoiseScale> of_models) {
      const std::size_t at = copy * store.matrix() + first * store.columns;
      const std::size_t draws = offset + first * store.block.outputs;
      kernel::NoisyUpdate task{store.values.data() + at,
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
                               {}};
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

}  // namespace sfumato
