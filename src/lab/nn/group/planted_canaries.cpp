#include "lab/nn/group/planted_canaries.hpp"

#include <span>

namespace sfumato::lab {

PlantedCanaries::PlantedCanaries(const Network& network, const std::vector<NoisePolicy>& policies,
                                 const Training& training, std::vector<ModelRecord>& models)
    : network_(network), training_(training), models_(models) {
  for (const NoisePolicy& policy : policies) {
    std::vector<GradientCanary>& of_policy = canaries_.emplace_back();
    for (std::size_t k = 0; k < training.canary_slots.size(); ++k) {
      of_policy.push_back(gradient_canary(policy, network, k));
    }
  }
  for (ModelRecord& model : models) model.canary_scores.assign(training.canary_slots.size(), 0.0);
}

/// Canaries of the step's metric, where it follows what was released.
void PlantedCanaries::follow(const BundledModels& bundled) {
  const std::span<const float> shape(bundled.shape.data(), network_.parameter_count());
  std::vector<GradientCanary>& canaries = canaries_[models_[bundled.members.front()].policy];
  for (std::size_t k = 0; k < canaries.size(); ++k) {
    canaries[k] = gradient_canary(bundled.policies.front(), network_, k, shape);
  }
}

void PlantedCanaries::add(BundledModels& bundled, const StepRows& rows) {
  if (bundled.released) follow(bundled);
  const std::size_t models = bundled.members.size();
  others_.assign(models, std::vector<float>(network_.parameter_count()));
  before_ = others_;
  for (std::size_t m = 0; m < models; ++m) {
    const ModelRecord& record = models_[bundled.members[m]];
    bundled.bundle.get_gradient(m, others_[m]);
    bundled.bundle.get_parameters(m, before_[m]);
    std::vector<float> values(network_.parameter_count(), 0.0F);
    bool any = false;
    for (std::size_t k = 0; k < canaries_[record.policy].size(); ++k) {
      if (!rows.canary_takes_part(k, record.world)) continue;
      const GradientCanary& canary = canaries_[record.policy][k];
      for (std::size_t i = 0; i < canary.values.size(); ++i) {
        values[canary.coordinates[i]] = rows.unit() * canary.values[i];
      }
      any = true;
    }
    if (any) bundled.bundle.add_to_gradient(m, values);
  }
}

void PlantedCanaries::score(BundledModels& bundled, std::uint64_t step, float unit) {
  std::vector<float> after(network_.parameter_count());
  for (std::size_t m = 0; m < bundled.members.size(); ++m) {
    ModelRecord& record = models_[bundled.members[m]];
    bundled.bundle.get_parameters(m, after);
    for (std::size_t k = 0; k < canaries_[record.policy].size(); ++k) {
      const GradientCanary& canary = canaries_[record.policy][k];
      for (std::size_t i = 0; i < canary.coordinates.size(); ++i) {
        const std::size_t at = canary.coordinates[i];
        const double moved =
            (static_cast<double>(before_[m][at]) - static_cast<double>(after[at])) /
            training_.rate_at(step);
        record.canary_scores[k] += canary.weights[i] *
                                   (moved - static_cast<double>(others_[m][at])) /
                                   static_cast<double>(unit);
      }
    }
  }
}

}  // namespace sfumato::lab
