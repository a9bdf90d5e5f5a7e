// Clipped gradients. The norm of a record's gradient follows from what enters and what comes back to each layer: for a linear layer it is
// |signal| sqrt(|input|^2 + 1), for a convolution that of the record's own small gradient. Signals of all layers are therefore kept, scaled
// row by row when the norms are known, and only then multiplied with the inputs: one pass forwards, one back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/nn/bundle/passes.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato::lab {
void Passes::clip(std::vector<Clipping> by_model, std::span<const float> inverse_variances,
                  const std::vector<BlockStore>& blocks) {
  clipping_ = std::move(by_model);
  metric_.clear();
  record_margin_ = kClipMargin;
  if (!inverse_variances.empty()) {
    for (const BlockStore& store : blocks) {
      metric_.emplace_back(store.block, inverse_variances);
      record_margin_ = std::max(record_margin_, metric_clip_margin(store.block.inputs));
    }
  }
  gradients_.resize(std::max<std::size_t>(2, stages_.size()));
  records_.resize(stages_.size());
}

void Passes::set_margin(std::size_t piece, std::size_t batch) {
  clip_margin_ = record_margin_ + sum_margin(piece, batch);
  if (clip_margin_ <= kLargestMargin) return;
  throw InvalidArgument(
      fmt::format(
          "clipped gradients of {} records, or of a layer with very many inputs: rounding in "
          "single precision could add half a clip",
          batch),
      "Use smaller batches, or train hardened");
}

void Passes::clipped_piece(const BatchRows& rows, std::vector<BlockStore>& blocks,
                           std::size_t batch, float* losses) {
  const std::size_t count = rows.inputs.count;
  if (rows.inputs.sparse != nullptr) throw InternalError("clipped gradients of sparse rows");
  forward_shared(rows.inputs, blocks[0]);
  measure_shared_inputs(rows);
  find_infinite_inputs(rows);
  for (std::size_t m = 0; m < models_; ++m) {
    const float* row_weights = rows.row_weights + m * batch;
    forward_rest(m, count, blocks);
    present_.resize(count);
    for (std::size_t r = 0; r < count; ++r) present_[r] = row_weights[r] != 0.0F ? 1.0F : 0.0F;
    softmax(m, count, rows.labels, present_.data(),
            losses == nullptr ? nullptr : losses + m * batch);
    clips_.begin(blocks.size(), count);
    for (std::size_t s = stages_.size(); s-- > shared_;) {
      core_gradient(s, m, count);
      if (stages_[s].trained()) {
        measure_inputs(s, m, count);
        add_squares(s, m, count, blocks[stages_[s].block]);
      }
      if (s > shared_) input_gradient(s, m, count, blocks);
    }
    for (const std::size_t r : infinite_inputs_) clips_.squares(0)[r] = kInf;
    clips_.decide(clipping_[m], clip_margin_, row_weights);
    zeroed_[m] += clips_.zeroed();
    for (std::size_t s = stages_.size(); s-- > shared_;) {
      if (stages_[s].trained()) {
        clipped_block_gradient(s, m, count, blocks[stages_[s].block]);
      }
    }
  }
  if (stages_[shared_].core == Stage::Core::convolution) return;
  join_shared_gradients(count, blocks[0]);
  dense_gradient(shared_, 0, count, joined_gradient_.data(), blocks[0]);
}

/// The inputs of the first layer with parameters are the same for all models, and so are their squares.
void Passes::measure_shared_inputs(const BatchRows& rows) {
  if (stages_[shared_].core != Stage::Core::linear) return;
  const std::size_t count = rows.inputs.count;
  const bool known = rows.squared_inputs != nullptr && shared_ == 0;
  if (known && metric_.empty()) {
    shared_squares_.assign(rows.squared_inputs, rows.squared_inputs + count);
    return;
  }
  square_rows(first_inputs_.data(), count, shared_);
  std::swap(shared_squares_, squares_);
  std::swap(shared_weighed_, weighed_);
}

/// Rows whose inputs of the first layer, or their squares, are not finite: neither is then the gradient of any model (0 times infinity is no
/// number), so that they count nothing in all of them, whatever their signals are. A linear layer gets zeros for them: an infinite input
/// would not vanish by a signal of zero.
void Passes::find_infinite_inputs(const BatchRows& rows) {
  infinite_inputs_.clear();
  const std::size_t size = stages_[shared_].in.size();
  const bool linear = stages_[shared_].core == Stage::Core::linear;
  const bool known = rows.squared_inputs != nullptr && shared_ == 0;
  const auto is_finite = [&](std::size_t r) {
    if (linear && !metric_.empty()) {
      const std::size_t columns = metric_[stages_[shared_].block].columns();
      const float* weighed = shared_weighed_.data() + r * columns;
      return std::all_of(weighed, weighed + columns, [](float v) { return std::isfinite(v); });
    }
    if (linear) return std::isfinite(shared_squares_[r]);
    return std::isfinite(known ? rows.squared_inputs[r] : sum_of_squares(first_inputs_[r], size));
  };
  for (std::size_t r = 0; r < rows.inputs.count; ++r) {
    if (is_finite(r)) continue;
    infinite_inputs_.push_back(r);
    if (!linear) continue;
    no_input_.require(size);
    first_inputs_[r] = no_input_.data();
  }
}

/// Of every row that enters stage s: the sum of squares or, in a metric, the sums with the weights of each output.
void Passes::square_rows(const float* const* inputs, std::size_t rows, std::size_t s) {
  const std::size_t count = stages_[s].in.size();
  if (metric_.empty()) {
    squares_.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) squares_[r] = sum_of_squares(inputs[r], count);
    return;
  }
  const BlockMetric& metric = metric_[stages_[s].block];
  squared_values_.require(rows * count);
  row_starts_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    float* to = squared_values_.data() + r * count;
    for (std::size_t i = 0; i < count; ++i) to[i] = inputs[r][i] * inputs[r][i];
    row_starts_[r] = to;
  }
  weighed_.require(rows * metric.columns());
  kernel::rows_times_matrix({row_starts_.data(), rows, 1, count, 0, metric.rows(), metric.columns(),
                             metric.columns(), metric.biases(), weighed_.data(), metric.columns()});
}

void Passes::measure_inputs(std::size_t s, std::size_t m, std::size_t rows) {
  if (s == shared_ || stages_[s].core != Stage::Core::linear) return;
  square_rows(inputs_of(s, m, rows), rows, s);
}

/// Adds what stage s contributes to the squared norm of each row's gradient, and to what vanishing numbers could add: that of signals of 1, and of
/// products of 1.
void Passes::add_squares(std::size_t s, std::size_t m, std::size_t rows, const BlockStore& block) {
  const Stage& stage = stages_[s];
  double* squares = clips_.squares(stage.block);
  double* units = clips_.units(stage.block);
  const float* signals = gradient_of_output(s, m).data();
  const double entries =
      metric_.empty() ? static_cast<double>(block.block.size()) : metric_[stage.block].total();
  if (stage.core == Stage::Core::convolution) {
    Convolution& convolution = *convolutions_[s];
    const bool pooled = stage.pool == Stage::Pool::max;
    records_[s].require(rows * convolution.record_size());
    convolution.record_gradients({rows, signals, pooled ? which(s, m, 0) : nullptr},
                                 records_[s].data());
    const float* weights = metric_.empty() ? nullptr : metric_[stage.block].rows();
    // Entries of a record's gradient are scaled here, not signals.
    for (std::size_t r = 0; r < rows; ++r) {
      squares[r] =
          convolution.squared_norm(records_[s].data() + r * convolution.record_size(), weights);
      units[r] = entries;
    }
    return;
  }
  const std::size_t outputs = block.block.outputs;
  const AlignedFloats& weighed = s == shared_ ? shared_weighed_ : weighed_;
  const std::vector<double>& inputs = s == shared_ ? shared_squares_ : squares_;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* signal = signals + r * stride(s);
    const double size = sum_of_squares(signal, outputs);
    if (metric_.empty()) {
      squares[r] = size * (inputs[r] + 1.0);
      units[r] = static_cast<double>(outputs) * (inputs[r] + 1.0) + entries;
    } else {
      const BlockMetric& metric = metric_[stage.block];
      const float* weighed_row = weighed.data() + r * metric.columns();
      squares[r] = weighted_squares(signal, weighed_row, outputs) + size * metric.vanished();
      units[r] = std::accumulate(weighed_row, weighed_row + outputs, 0.0) +
                 static_cast<double>(outputs) * metric.vanished() + entries;
    }
  }
}

/// The gradient of a block from the scaled signals. The first linear layer's is made for all models together: only its signals are scaled here.
void Passes::clipped_block_gradient(std::size_t s, std::size_t m, std::size_t rows,
                                    BlockStore& block) {
  if (stages_[s].core == Stage::Core::convolution) {
    convolutions_[s]->sum_records(rows, records_[s].data(), clips_.factors(stages_[s].block), block,
                                  m);
    return;
  }
  scale_signals(s, m, rows);
  if (s == shared_) return;
  // Where a gradient is not finite the input of its layer may not be so either.
  for (const std::size_t r : clips_.not_finite()) {
    std::fill_n(output(s - 1, m, r), stride(s - 1), 0.0F);
  }
  dense_gradient(s, m, rows, gradient_of_output(s, m).data(), block);
}

void Passes::scale_signals(std::size_t s, std::size_t m, std::size_t rows) {
  const float* factors = clips_.factors(stages_[s].block);
  float* signals = gradient_of_output(s, m).data();
  for (std::size_t r = 0; r < rows; ++r) {
    float* signal = signals + r * stride(s);
    for (std::size_t n = 0; n < stride(s); ++n) signal[n] *= factors[r];
  }
  for (const std::size_t r : clips_.not_finite()) {
    std::fill_n(signals + r * stride(s), stride(s), 0.0F);
  }
}

}  // namespace sfumato::lab
