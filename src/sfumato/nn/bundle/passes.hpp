#pragma once

#include <optional>
#include <vector>

#include "sfumato/nn/bundle/block_store.hpp"
#include "sfumato/nn/bundle/convolution.hpp"
#include "sfumato/nn/bundle/rows.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/nn/stage.hpp"

namespace sfumato {

/// Forward and backward pass of a minibatch through the models of a bundle; writes the gradients of `blocks`.
class Passes {
 public:
  Passes(const Network& network, std::size_t models);

  [[nodiscard]] bool reads_sparse_rows() const {
    return shared_ == 0 && stages_[0].core == Stage::Core::linear;
  }

  void compute_gradients(const BatchRows& rows, std::vector<BlockStore>& blocks, float* losses);
  void evaluate(const InputRows& inputs, const std::uint8_t* labels,
                const std::vector<BlockStore>& blocks, float* losses, std::uint8_t* predicted);

 private:
  [[nodiscard]] std::size_t piece_rows() const;
  /// Gradients of some rows of a batch of `batch`, by which row weights and losses of models are apart.
  void piece_gradients(const BatchRows& rows, std::vector<BlockStore>& blocks, std::size_t batch,
                       float* losses);

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
    return s == shared_ ? shared_gradients_[m] : gradients_[s % 2];
  }
  void make_room(std::size_t s, std::size_t rows);
  const float* const* inputs_of(std::size_t s, std::size_t m, std::size_t rows);

  std::size_t models_, classes_;
  std::vector<Stage> stages_;
  std::size_t shared_ = 0;  ///< the first stage with parameters
  std::vector<std::optional<Convolution>> convolutions_;
  std::vector<std::vector<AlignedFloats>> outputs_;
  std::vector<std::vector<std::vector<std::int32_t>>> which_;
  AlignedFloats core_, shifted_bias_, pooled_, transposed_, spread_;
  AlignedFloats gradients_[2], joined_gradient_;
  std::vector<AlignedFloats> shared_gradients_;  ///< by model
  std::vector<std::int32_t> pooled_which_;
  std::vector<const float*> first_inputs_, inputs_, row_starts_;
  std::vector<float> ones_;
  std::vector<std::uint64_t> rows_of_groups_;
};

}  // namespace sfumato
