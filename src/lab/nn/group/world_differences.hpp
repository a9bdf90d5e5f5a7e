#pragma once

#include <cstdint>
#include <vector>

#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/group/step_rows.hpp"
#include "lab/nn/model_record.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/training.hpp"

namespace sfumato::lab {

/// What the other of two worlds' gradients has more than the model's own, from the rows that differ alone: where the worlds agree the
/// difference is then exactly zero.
class WorldDifferences {
 public:
  WorldDifferences(const Network& network, const Training& training,
                   std::vector<ModelRecord>& models)
      : network_(network), training_(training), models_(models) {}

  /// Before the gradient of the step, for it uses the bundle's gradient and leaves its own there.
  void compute(BundledModels& bundled, StepRows& rows);
  /// With the gradient of the step in the bundle: adds to the models' path KL and squared differences.
  void measure(BundledModels& bundled, std::uint64_t step, float unit);

 private:
  const Network& network_;
  const Training& training_;
  std::vector<ModelRecord>& models_;
  std::vector<std::size_t> differing_rows_;
  std::vector<std::uint8_t> differing_labels_;
  std::vector<float> weights_;                   ///< of the differing rows, by model
  std::vector<std::vector<float>> differences_;  ///< by model of the bundle
};

}  // namespace sfumato::lab
