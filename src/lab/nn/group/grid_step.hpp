#pragma once

#include <cstdint>
#include <vector>

#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/group/grid_sum.hpp"
#include "lab/nn/group/step_rows.hpp"
#include "lab/nn/model_record.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/training.hpp"

namespace sfumato::lab {

/// Hardened steps: gradients record by record, each by itself, so that its bits depend on neither the batch nor its place in it, and their sums with
/// exact noise (GridSum). Slower than the products over whole batches, which is what exactness costs.
class GridStep {
 public:
  GridStep(const Network& network, const Training& training, std::size_t slots,
           std::vector<ModelRecord>& models)
      : network_(network), training_(training), slots_(slots), models_(models) {}

  /// Leaves the noisy mean gradients of the step in the bundle.
  void compute(BundledModels& bundled, StepRows& rows, std::uint64_t step);

 private:
  void begin(BundledModels& bundled);

  const Network& network_;
  const Training& training_;
  std::size_t slots_;
  std::vector<ModelRecord>& models_;
  std::vector<GridSum> sums_;  ///< by model of the bundle
  std::vector<float> gradient_;
};

}  // namespace sfumato::lab
