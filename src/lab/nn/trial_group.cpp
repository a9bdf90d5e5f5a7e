#include "lab/nn/trial_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "lab/nn/batches.hpp"
#include "lab/nn/group/bundled_models.hpp"
#include "lab/nn/group/grid_step.hpp"
#include "lab/nn/group/noisy_step.hpp"
#include "lab/nn/group/planted_canaries.hpp"
#include "lab/nn/group/requirements.hpp"
#include "lab/nn/group/step_rows.hpp"
#include "lab/nn/group/world_differences.hpp"

namespace sfumato::lab {
namespace {

/// Steps between two looks at whether losses are still finite. Weights that are not stay so.
constexpr std::uint64_t kWatch = 32;
/// Rows that are evaluated at a time: their activations stay in the cache.
constexpr std::size_t kEvaluated = 128;

BatchSampler sampler_of(const Training& training, std::size_t slots) {
  if (training.key) return {training.batches, slots, training.batch_size, training.key};
  return {training.batches, slots, training.batch_size, training.seed};
}

std::vector<ModelRecord> records_of(const Network& network, const TrainingData& data,
                                    std::size_t policies, const Training& training) {
  std::vector<ModelRecord> records;
  for (std::size_t p = 0; p < policies; ++p) {
    for (std::size_t w = 0; w < data.worlds.size(); ++w) {
      ModelRecord record;
      record.policy = p;
      record.world = w;
      if (training.gradient_differences) {
        record.squared_differences.assign(network.parameter_count(), 0.0);
      }
      records.push_back(std::move(record));
    }
  }
  return records;
}

bool any_noise(const std::vector<NoisePolicy>& policies) {
  return std::any_of(policies.begin(), policies.end(), [](const NoisePolicy& policy) {
    return !std::holds_alternative<NoNoise>(policy.rule);
  });
}

/// By whether gradients are clipped: those rows are read in another way.
std::map<bool, StepRows> rows_of(const std::vector<BundledModels>& bundles,
                                 const std::shared_ptr<const TrainingData>& data,
                                 const Training& training) {
  std::map<bool, StepRows> rows;
  for (const BundledModels& bundled : bundles) {
    rows.try_emplace(bundled.clipped, data, training, bundled.bundle);
  }
  return rows;
}

}  // namespace

class TrialGroup::Implementation {
 public:
  Implementation(const Network& network, std::shared_ptr<const TrainingData> data,
                 std::vector<NoisePolicy> policies, const Training& training)
      : network_(network),
        policies_(std::move(policies)),
        training_(training),
        sampler_(sampler_of(training, data->slots)),
        models_(records_of(network, *data, policies_.size(), training)),
        bundles_(bundle_models(network, policies_, models_, training)),
        grid_step_(network_, training_, data->slots, models_),
        rows_(rows_of(bundles_, data, training)),
        noisy_step_(network_, training_, any_noise(policies_)),
        differences_(network_, training_, models_),
        canaries_(network_, policies_, training_, models_) {}

  void train_until(std::uint64_t end, Observer& observer) {
    for (; step_ < end; ++step_) {
      if (step_ % 16 == 0) {
        if (observer.stop_requested()) return;
        observer.progress("training", step_, end);
      }
      one_step();
    }
    observer.progress("training", step_, end);
  }

  [[nodiscard]] const std::vector<ModelRecord>& models() const { return models_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }

  [[nodiscard]] std::vector<float> parameters(std::size_t model) const {
    std::vector<float> values(network_.parameter_count());
    for (const BundledModels& bundled : bundles_) {
      for (std::size_t m = 0; m < bundled.members.size(); ++m) {
        if (bundled.members[m] != model) continue;
        bundled.bundle.get_parameters(m, values);
        return values;
      }
    }
    throw InvalidArgument(fmt::format("model {} of a group of {}", model, models_.size()),
                          "Count models from 0");
  }

  Evaluation evaluate(const RecordStore& store, std::span<const std::uint8_t> labels) {
    Evaluation result;
    result.losses.assign(models_.size(), std::vector<float>(store.count()));
    result.predicted.assign(models_.size(), std::vector<std::uint8_t>(store.count()));
    std::vector<float> losses;
    std::vector<std::uint8_t> predicted;
    ExpandedRows& rows = rows_.begin()->second.rows();
    for (std::size_t from = 0; from < store.count(); from += kEvaluated) {
      const std::size_t count = std::min(kEvaluated, store.count() - from);
      rows.clear();
      for (std::size_t i = 0; i < count; ++i) rows.add(static_cast<std::uint32_t>(from + i));
      std::optional<bool> expanded;
      for (BundledModels& bundled : bundles_) {
        const bool sparse = bundled.bundle.reads_sparse_rows();
        if (expanded != sparse) rows.expand(store, labels, sparse);
        expanded = sparse;
        const std::size_t models = bundled.bundle.models();
        losses.resize(models * count);
        predicted.resize(models * count);
        bundled.bundle.evaluate(rows.inputs(), rows.labels(), losses.data(), predicted.data());
        for (std::size_t m = 0; m < models; ++m) {
          const auto at = static_cast<std::ptrdiff_t>(from);
          std::copy_n(losses.data() + m * count, count,
                      result.losses[bundled.members[m]].begin() + at);
          std::copy_n(predicted.data() + m * count, count,
                      result.predicted[bundled.members[m]].begin() + at);
        }
      }
    }
    return result;
  }

  [[nodiscard]] GroupState state() {
    GroupState state;
    state.step = step_;
    state.models = models_;
    for (std::size_t m = 0; m < models_.size(); ++m) state.parameters.push_back(parameters(m));
    state.velocities.resize(models_.size());
    state.averages.resize(models_.size());
    state.moments.resize(models_.size());
    for (BundledModels& bundled : bundles_) {
      for (std::size_t m = 0; m < bundled.members.size(); ++m) {
        const std::size_t model = bundled.members[m];
        if (bundled.by_velocity) {
          state.velocities[model].resize(network_.parameter_count());
          bundled.bundle.get_velocity(m, state.velocities[model]);
        }
        if (averages()) {
          state.averages[model].resize(network_.parameter_count());
          bundled.bundle.get_average(m, state.averages[model]);
        }
        if (bundled.released) state.moments[model] = bundled.released->state();
      }
    }
    return state;
  }

  void restore(GroupState state) {
    bool fits = state.models.size() == models_.size() && state.parameters.size() == models_.size();
    for (std::size_t m = 0; fits && m < models_.size(); ++m) {
      fits = state.parameters[m].size() == network_.parameter_count() &&
             state.models[m].policy == models_[m].policy &&
             state.models[m].world == models_[m].world &&
             state.models[m].canary_scores.size() == models_[m].canary_scores.size() &&
             state.models[m].squared_differences.size() == models_[m].squared_differences.size();
      const bool velocities = m < state.velocities.size() && !state.velocities[m].empty();
      const bool averaged = m < state.averages.size() && !state.averages[m].empty();
      const bool moments = m < state.moments.size() && !state.moments[m].empty();
      const NoisePolicy& policy = policies_[models_[m].policy];
      fits = fits && velocities == uses_velocity(policy, training_) && averaged == averages() &&
             moments == (policy.is_private() && policy.private_noise().learns());
    }
    if (!fits) {
      throw InvalidArgument("the saved state is of another group of models",
                            "Resume with the study that made it");
    }
    const auto saved = [](const auto& list, std::size_t model) {
      return model < list.size() && !list[model].empty();
    };
    for (BundledModels& bundled : bundles_) {
      for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
        const std::size_t model = bundled.members[m];
        bundled.bundle.set_parameters(m, state.parameters[model]);
        if (saved(state.velocities, model)) {
          bundled.bundle.set_velocity(m, state.velocities[model]);
        }
        if (saved(state.averages, model)) bundled.bundle.set_average(m, state.averages[model]);
        if (bundled.released && saved(state.moments, model)) {
          bundled.released->restore(state.moments[model]);
        }
      }
    }
    step_ = state.step;
    models_ = std::move(state.models);
  }

 private:
  [[nodiscard]] bool averages() const { return training_.average_last > 0; }

  /// Row weights by model, for one bundle.
  void weigh(const BundledModels& bundled, const StepRows& rows) {
    model_row_weights_.clear();
    for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
      const std::vector<float>& weights = rows.weights(models_[bundled.members[m]].world);
      model_row_weights_.insert(model_row_weights_.end(), weights.begin(), weights.end());
    }
  }

  void one_step() {
    bool differs = false;
    for (auto& [clipped, rows] : rows_) {
      differs = rows.gather(sampler_.batch(step_), sampler_.nominal_size(step_));
    }
    noisy_step_.begin(step_, rows_.begin()->second.unit());
    const bool log = training_.log_every != 0 && step_ % training_.log_every == 0;
    const bool watch = log || step_ % kWatch == 0 || step_ + 1 == training_.iterations;
    const bool compare = differs && (training_.path_kl || training_.gradient_differences);
    for (BundledModels& bundled : bundles_) {
      StepRows& step_rows = rows_.at(bundled.clipped);
      ExpandedRows& rows = step_rows.rows();
      if (bundled.released) noisy_step_.shape_noise(bundled);
      if (training_.hardened) {
        grid_step_.compute(bundled, step_rows, step_);
      } else if (rows.count() == 0) {  // an empty Poisson batch
        step_rows.clear_gradients(bundled.bundle);
      } else {
        if (compare) differences_.compute(bundled, step_rows);
        weigh(bundled, step_rows);
        losses_.resize(bundled.bundle.models() * rows.count());
        bundled.bundle.compute_gradients(
            {rows.inputs(), rows.labels(), model_row_weights_.data(), rows.squares()},
            watch ? losses_.data() : nullptr);
        count_zeroed(bundled);
        if (watch) look_at_losses(bundled, rows.count(), log);
        if (compare) differences_.measure(bundled, step_, step_rows.unit());
      }
      if (canaries_.any()) canaries_.add(bundled, step_rows);
      noisy_step_.update(bundled);
      if (canaries_.any()) canaries_.score(bundled, step_, step_rows.unit());
      if (averages() && step_ + training_.average_last >= training_.iterations) {
        bundled.bundle.add_to_average(step_ + training_.average_last + 1 - training_.iterations);
        if (step_ + 1 == training_.iterations) bundled.bundle.adopt_average();
      }
    }
  }

  void count_zeroed(const BundledModels& bundled) {
    for (std::size_t m = 0; m < bundled.members.size(); ++m) {
      models_[bundled.members[m]].zeroed_records += bundled.bundle.zeroed()[m];
    }
  }

  void look_at_losses(const BundledModels& bundled, std::size_t count, bool log) {
    for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
      ModelRecord& record = models_[bundled.members[m]];
      double sum = 0.0;
      std::size_t rows = 0;
      bool finite = true;
      for (std::size_t r = 0; r < count; ++r) {
        const float loss = losses_[m * count + r];
        finite &= std::isfinite(loss);
        if (model_row_weights_[m * count + r] == 0.0F) continue;
        sum += static_cast<double>(loss);
        ++rows;
      }
      if (!finite && !record.diverged_at) record.diverged_at = step_;
      if (log && !record.diverged_at && rows != 0) {
        record.losses.push_back({step_, sum / static_cast<double>(rows)});
      }
    }
  }

  Network network_;
  std::vector<NoisePolicy> policies_;
  Training training_;
  BatchSampler sampler_;
  std::uint64_t step_ = 0;
  std::vector<ModelRecord> models_;
  std::vector<BundledModels> bundles_;
  GridStep grid_step_;
  std::map<bool, StepRows> rows_;
  NoisyStep noisy_step_;
  WorldDifferences differences_;
  PlantedCanaries canaries_;
  std::vector<float> model_row_weights_, losses_;
};

TrialGroup::TrialGroup(const Network& network, std::shared_ptr<const TrainingData> data,
                       std::vector<NoisePolicy> policies, const Training& training,
                       const Where& where) {
  require_trainable(network, *data, policies, training, where);
  implementation_ =
      std::make_unique<Implementation>(network, std::move(data), std::move(policies), training);
}
TrialGroup::TrialGroup(TrialGroup&&) noexcept = default;
TrialGroup& TrialGroup::operator=(TrialGroup&&) noexcept = default;
TrialGroup::~TrialGroup() = default;

std::uint64_t TrialGroup::step() const { return implementation_->step(); }
void TrialGroup::train_until(std::uint64_t step, Observer& observer) {
  implementation_->train_until(step, observer);
}
const std::vector<ModelRecord>& TrialGroup::models() const { return implementation_->models(); }
std::vector<float> TrialGroup::parameters(std::size_t model) const {
  return implementation_->parameters(model);
}
TrialGroup::Evaluation TrialGroup::evaluate(const RecordStore& store,
                                            std::span<const std::uint8_t> labels) {
  return implementation_->evaluate(store, labels);
}
GroupState TrialGroup::state() const { return implementation_->state(); }
void TrialGroup::restore(GroupState state) { implementation_->restore(std::move(state)); }

}  // namespace sfumato::lab
