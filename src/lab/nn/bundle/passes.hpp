#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lab/nn/bundle/block_store.hpp"
#include "lab/nn/bundle/convolution.hpp"
#include "lab/nn/bundle/metric.hpp"
#include "lab/nn/bundle/row_clips.hpp"
#include "lab/nn/clipping.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/nn/stage.hpp"

namespace sfumato::lab {

/// Forward and backward pass of a minibatch through the models of a bundle; writes the gradients of `blocks`.
class Passes {
 public:
  Passes(const Network& network, std::size_t models);

  /// Not where gradients are clipped: whether rows are sparse depends on all records, and sums of pixels without their shift are larger than those of
  /// inputs, so that rounding could add more than a record's clip.
  [[nodiscard]] bool reads_sparse_rows() const {
    return shared_ == 0 && stages_[0].core == Stage::Core::linear && !clips();
  }

  /// From now on gradients are sums of clipped ones. `inverse_variances` make the metric, empty: Euclidean.
  void clip(std::vector<Clipping> by_model, std::span<const float> inverse_variances,
            const std::vector<BlockStore>& blocks);
  [[nodiscard]] bool clips() const { return !clipping_.empty(); }

  void compute_gradients(const BatchRows& rows, std::vector<BlockStore>& blocks, float* losses);
  /// Records of the last compute_gradients whose clipped gradient is zero because it was not finite, or beyond single precision, by model.
  [[nodiscard]] std::span<const std::uint64_t> zeroed() const { return zeroed_; }
  void evaluate(const InputRows& inputs, const std::uint8_t* labels,
                const std::vector<BlockStore>& blocks, float* losses, std::uint8_t* predicted);
  /// What enters the stage of a block in model 0, a row of its input's size after the other.
  void block_inputs(const InputRows& inputs, const std::vector<BlockStore>& blocks,
                    std::size_t block, float* rows);

 private:
  [[nodiscard]] std::size_t piece_rows() const;
  /// Gradients of some rows of a batch of `batch`, by which row weights and losses of models are apart.
  void piece_gradients(const BatchRows& rows, std::vector<BlockStore>& blocks, std::size_t batch,
                       float* losses);

  // Clipped gradients (clipped_passes.cpp): the signals of all stages first, then norms, factors, and the gradients of the blocks.
  void clipped_piece(const BatchRows& rows, std::vector<BlockStore>& blocks, std::size_t batch,
                     float* losses);
  void set_margin(std::size_t piece, std::size_t batch);
  void measure_shared_inputs(const BatchRows& rows);
  void find_infinite_inputs(const BatchRows& rows);
  void measure_inputs(std::size_t s, std::size_t m, std::size_t rows);
  void add_squares(std::size_t s, std::size_t m, std::size_t rows, const BlockStore& block);
  void square_rows(const float* const* inputs, std::size_t rows, std::size_t s);
  void clipped_block_gradient(std::size_t s, std::size_t m, std::size_t rows, BlockStore& block);
  void scale_signals(std::size_t s, std::size_t m, std::size_t rows);

  /// The block of a stage's core, with its weights for every model; its own where they are fixed.
  [[nodiscard]] const BlockStore& block_of(std::size_t s,
                                           const std::vector<BlockStore>& blocks) const {
    return fixed_[s] ? *fixed_[s] : blocks[stages_[s].block];
  }
  void forward_shared(const InputRows& inputs, const BlockStore& block);
  void forward_sparse(const InputRows& inputs, const BlockStore& block);
  void forward_rest(std::size_t m, std::size_t rows, const std::vector<BlockStore>& blocks);
  void forward_bare(std::size_t s, std::size_t m, const float* const* inputs, std::size_t rows);
  void forward_core(std::size_t s, std::size_t m, std::size_t models, const float* const* inputs,
                    std::size_t rows, const BlockStore& block);
  void finish(std::size_t s, std::size_t r, std::size_t rows, std::size_t m, std::size_t models,
              const float* values, std::size_t columns);
  /// Cross-entropies of model m, and their gradients in the last stage's output.
  void softmax(std::size_t m, std::size_t rows, const std::uint8_t* labels,
               const float* row_weights, float* losses);

  void backward(std::size_t s, std::size_t m, std::size_t rows, std::vector<BlockStore>& blocks);
  float* core_gradient(std::size_t s, std::size_t m, std::size_t rows);
  void input_gradient(std::size_t s, std::size_t m, std::size_t rows,
                      const std::vector<BlockStore>& blocks);
  void join_shared_gradients(std::size_t rows, const BlockStore& block);
  void linear_input_gradient(const BlockStore& block, std::size_t m, std::size_t rows,
                             const float* output_gradient, float* before);
  void dense_gradient(std::size_t s, std::size_t m, std::size_t rows, const float* output_gradient,
                      BlockStore& block);
  void bias_gradient(std::size_t m, std::size_t terms, const float* output_gradient,
                     BlockStore& block);
  void sparse_row_gradient(const InputRows& inputs, BlockStore& block);
  const float* spread_positions(std::size_t s, std::size_t rows, const float* output_gradient,
                                const BlockStore& block);

  /// Floats of a row of stage s's output, with its padding.
  [[nodiscard]] std::size_t stride(std::size_t s) const {
    return kernel::padded(stages_[s].out.size());
  }
  /// Output of stage s, row r, of model m; the stages behind the shared one keep one model's.
  [[nodiscard]] float* output(std::size_t s, std::size_t m, std::size_t r) {
    return outputs_[s][s == shared_ ? m : 0].data() + r * stride(s);
  }
  [[nodiscard]] std::int32_t* which(std::size_t s, std::size_t m, std::size_t r) {
    return which_[s][s == shared_ ? m : 0].data() + r * stride(s);
  }
  /// Gradient of the same, with zeros in the padding.
  [[nodiscard]] AlignedFloats& gradient_of_output(std::size_t s, std::size_t m) {
    return s == shared_ ? shared_gradients_[m] : gradients_[clipping_.empty() ? s % 2 : s];
  }
  void make_room(std::size_t s, std::size_t rows);
  const float* const* inputs_of(std::size_t s, std::size_t m, std::size_t rows);

  std::size_t models_, classes_;
  std::vector<Stage> stages_;
  std::size_t shared_ = 0;  ///< the first stage with parameters
  std::vector<std::optional<Convolution>> convolutions_;
  std::vector<std::optional<BlockStore>> fixed_;  ///< of stages whose weights are not trained
  std::vector<std::vector<AlignedFloats>> outputs_;
  std::vector<std::vector<std::vector<std::int32_t>>> which_;
  AlignedFloats core_, shifted_bias_, pooled_, transposed_, spread_;
  std::vector<AlignedFloats>
      gradients_;  ///< two in turns; of every stage where gradients are clipped
  AlignedFloats joined_gradient_;
  std::vector<AlignedFloats> shared_gradients_;  ///< by model
  std::vector<std::int32_t> pooled_which_;
  std::vector<const float*> first_inputs_;  ///< of the stage shared_; none where they are sparse
  std::vector<const float*> inputs_, row_starts_;
  std::vector<float> ones_;
  std::vector<std::uint64_t> rows_of_groups_;

  std::vector<Clipping> clipping_;                  ///< by model; empty: none
  std::vector<BlockMetric> metric_;                 ///< by block; empty: Euclidean
  double record_margin_ = 0.0, clip_margin_ = 0.0;  ///< of a record alone, and in its batch
  RowClips clips_;
  std::vector<std::uint64_t> zeroed_;
  std::vector<float> present_;
  std::vector<AlignedFloats> records_;  ///< of convolutions, by stage: gradients of single records
  std::vector<double> shared_squares_, squares_;             ///< of the inputs of a stage, by row
  AlignedFloats squared_values_, shared_weighed_, weighed_;  ///< the same in a metric
  std::vector<std::size_t> infinite_inputs_;                 ///< rows of the piece
  AlignedFloats no_input_;  ///< zeros, in the place of inputs that are not finite
};

}  // namespace sfumato::lab
