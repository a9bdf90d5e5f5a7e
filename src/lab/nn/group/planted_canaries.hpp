#pragma once

#include <cstdint>
#include <vector>

#include "lab/nn/gradient_canary.hpp"
#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/group/step_rows.hpp"
#include "lab/nn/model_record.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/training.hpp"

namespace sfumato::lab {

/// The gradient canaries of a group, for audits of the mechanism: each contributes the largest gradient that a policy lets through, in coordinates
/// of its own, in every world that holds its slot.
class PlantedCanaries {
 public:
  PlantedCanaries(const Network& network, const std::vector<NoisePolicy>& policies,
                  const Training& training, std::vector<ModelRecord>& models);

  [[nodiscard]] bool any() const { return !canaries_.empty() && !canaries_.front().empty(); }
  /// With the gradients of the other records in the bundle: adds those of the canaries that take part in the step.
  void add(BundledModels& bundled, const StepRows& rows);
  /// After the update: what the step moved beyond the other records' sum, to the models' scores.
  void score(BundledModels& bundled, std::uint64_t step, float unit);

 private:
  void follow(const BundledModels& bundled);

  const Network& network_;
  const Training& training_;
  std::vector<ModelRecord>& models_;
  std::vector<std::vector<GradientCanary>> canaries_;  ///< by policy and number, of this step
  std::vector<std::vector<float>> others_, before_;    ///< by model of the bundle
};

}  // namespace sfumato::lab
