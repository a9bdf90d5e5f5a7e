#pragma once

#include <optional>
#include <vector>

#include "sfumato/nn/bundle.hpp"
#include "sfumato/nn/bundle/block_store.hpp"
#include "sfumato/nn/bundle/convolution.hpp"
#include "sfumato/nn/stage.hpp"

namespace sfumato {

/// The way of a minibatch through the models of a bundle, forwards and back: to the slopes of `blocks`.
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
  /// Gradients of some rows of a batch of `batch`, by which weights and losses of models are apart.
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
  float* logits_of(std::size_t m, std::size_t rows);

  float* backward(std::size_t s, std::size_t m, std::size_t rows, float* slope,
                  std::vector<BlockStore>& blocks);
  void finish_slope(std::size_t s, std::size_t m, std::size_t rows, float* slope);
  void linear_slope(const BlockStore& block, std::size_t m, std::size_t rows, const float* slope,
                    std::size_t step, float* before);
  void dense_gradient(std::size_t s, std::size_t m, std::size_t rows, const float* slope,
                      BlockStore& block);
  void bias_gradient(std::size_t m, std::size_t terms, const float* slope, BlockStore& block);
  void sparse_row_gradient(const InputRows& inputs, BlockStore& block);
  const float* spread_positions(std::size_t s, std::size_t rows, const float* slope,
                                const BlockStore& block);

  /// Output of stage s, row r, of model m; the stages behind the shared one keep one model's.
  [[nodiscard]] float* output(std::size_t s, std::size_t m, std::size_t r) {
    return outputs_[s][s == shared_ ? m : 0].data() + r * stages_[s].out.size();
  }
  [[nodiscard]] std::int32_t* which(std::size_t s, std::size_t m, std::size_t r) {
    return which_[s][s == shared_ ? m : 0].data() + r * stages_[s].out.size();
  }
  [[nodiscard]] OutputSlope slope_of(std::size_t s, std::size_t m, std::size_t rows,
                                     const float* slope) {
    return {rows, slope, stages_[s].pool == Stage::Pool::max ? which(s, m, 0) : nullptr};
  }
  void make_room(std::size_t s, std::size_t rows);
  const float* const* inputs_of(std::size_t s, std::size_t m, std::size_t rows);

  std::size_t models_, classes_;
  std::vector<Stage> stages_;
  std::size_t shared_ = 0;  ///< the first stage with parameters
  std::vector<std::optional<Convolution>> convolutions_;
  std::vector<std::vector<AlignedFloats>> outputs_;
  std::vector<std::vector<std::vector<std::int32_t>>> which_;
  AlignedFloats core_, shifted_bias_, pooled_, slopes_[2], shared_slope_, transposed_, spread_;
  std::vector<std::int32_t> pooled_which_;
  std::vector<const float*> first_inputs_, inputs_, row_starts_;
  std::vector<float> ones_;
  std::vector<std::uint64_t> rows_of_groups_;
};

}  // namespace sfumato
