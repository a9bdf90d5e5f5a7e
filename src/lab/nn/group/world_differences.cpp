#include "lab/nn/group/world_differences.hpp"

#include <cmath>

#include "sfumato/divergence/step_kl.hpp"

namespace sfumato::lab {

void WorldDifferences::compute(BundledModels& bundled, StepRows& rows) {
  const std::size_t models = bundled.bundle.models();
  differing_labels_.clear();
  differing_rows_.clear();
  for (std::size_t r = 0; r < rows.rows().count(); ++r) {
    if (rows.weights(0)[r] == rows.weights(1)[r]) continue;
    differing_rows_.push_back(r);
    differing_labels_.push_back(rows.rows().labels()[r]);
  }
  weights_.clear();
  for (std::size_t m = 0; m < models; ++m) {
    const std::size_t own = models_[bundled.members[m]].world;
    for (const std::size_t r : differing_rows_) {
      weights_.push_back(rows.weights(1 - own)[r] - rows.weights(own)[r]);
    }
  }
  bundled.bundle.compute_gradients(
      {rows.rows().inputs(differing_rows_), differing_labels_.data(), weights_.data()}, nullptr);
  differences_.resize(models);
  for (std::size_t m = 0; m < models; ++m) {
    differences_[m].resize(network_.parameter_count());
    bundled.bundle.get_gradient(m, differences_[m]);
  }
}

void WorldDifferences::measure(BundledModels& bundled, std::uint64_t step, float unit) {
  const std::size_t count = network_.parameter_count();
  std::vector<float> gradient(count);
  std::vector<double> own(count), other(count);
  for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
    ModelRecord& record = models_[bundled.members[m]];
    if (record.diverged_at) continue;
    const std::vector<float>& difference = differences_[m];
    if (training_.gradient_differences) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto d = static_cast<double>(difference[i]);
        record.squared_differences[i] += d * d;
      }
    }
    if (!training_.path_kl) continue;
    bundled.bundle.get_gradient(m, gradient);
    for (std::size_t i = 0; i < count; ++i) {
      own[i] = static_cast<double>(gradient[i]);
      other[i] = own[i] + static_cast<double>(difference[i]);
    }
    bool finite = true;
    for (const double value : other) finite &= std::isfinite(value);
    if (!finite) continue;  // diverging: the next look at the losses says so
    const NoisePolicy& policy = bundled.policies[m];
    const double rate = training_.rate_at(step), factor = static_cast<double>(unit);
    record.path_kl.add(step_kl_by_coordinate(
                           rate, own, other, step_variances(policy, {network_, rate, own, factor}),
                           step_variances(policy, {network_, rate, other, factor})),
                       step);
  }
}

}  // namespace sfumato::lab
