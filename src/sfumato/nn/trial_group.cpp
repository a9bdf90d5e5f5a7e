#include "sfumato/nn/trial_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/nn/aligned_floats.hpp"
#include "sfumato/nn/bundle.hpp"
#include "sfumato/nn/initialise.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {
namespace {

/// Steps between two looks at whether losses are still finite. Weights that are not stay so.
constexpr std::uint64_t kWatch = 32;
/// Rows that are evaluated at a time: their activations stay in the cache.
constexpr std::size_t kEvaluated = 128;

/// Records that are asked for before they are read.
constexpr std::size_t kAhead = 3;

/// The inputs of the rows of a step, expanded one after the other where the store has only bytes.
class Rows {
 public:
  void clear(std::size_t input_size) {
    stride_ = kernel::padded(input_size) + 8;
    records_.clear();
  }
  /// The row's number.
  std::size_t add(std::uint32_t record) {
    records_.push_back(record);
    return records_.size() - 1;
  }
  void expand(const RecordStore& store, std::span<const std::uint8_t> labels, bool sparse) {
    sparse = sparse && store.sparse();
    values_.require(records_.size() * stride_);
    plain_.clear();
    sparse_.clear();
    labels_.resize(records_.size());
    for (std::size_t r = 0; r < records_.size(); ++r) {
      float* room = values_.data() + r * stride_;
      if (r + kAhead < records_.size()) store.expect(records_[r + kAhead]);
      if (sparse) {
        sparse_.push_back(store.sparse_row(records_[r], room));
      } else {
        plain_.push_back(store.inputs(records_[r], room));
      }
      labels_[r] = labels[records_[r]];
    }
    shift_ = store.shift();
  }
  [[nodiscard]] std::size_t count() const { return records_.size(); }
  [[nodiscard]] InputRows inputs() const {
    if (sparse_.empty()) return {count(), plain_.data(), nullptr, nullptr};
    return {count(), nullptr, sparse_.data(), shift_};
  }
  /// Only some of the rows.
  [[nodiscard]] InputRows inputs(const std::vector<std::size_t>& rows) {
    some_plain_.clear();
    some_sparse_.clear();
    for (const std::size_t r : rows) {
      if (sparse_.empty()) {
        some_plain_.push_back(plain_[r]);
      } else {
        some_sparse_.push_back(sparse_[r]);
      }
    }
    if (sparse_.empty()) return {rows.size(), some_plain_.data(), nullptr, nullptr};
    return {rows.size(), nullptr, some_sparse_.data(), shift_};
  }
  [[nodiscard]] const std::uint8_t* labels() const { return labels_.data(); }

 private:
  std::size_t stride_ = 0;
  std::vector<std::uint32_t> records_;
  AlignedFloats values_;
  std::vector<const float*> plain_, some_plain_;
  std::vector<kernel::SparseRow> sparse_, some_sparse_;
  const float* shift_ = nullptr;
  std::vector<std::uint8_t> labels_;
};

/// The bundles a number of models is cut into: as many of eight as there are, then four, two, one.
std::vector<std::size_t> bundle_sizes(std::size_t models) {
  std::vector<std::size_t> sizes(models / 8, 8);
  for (const std::size_t size : {4U, 2U, 1U}) {
    if ((models & size) != 0) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

class TrialGroup::Implementation {
 public:
  Implementation(const Network& network, std::shared_ptr<const TrainingData> data,
                 std::vector<NoisePolicy> policies, const Training& training)
      : network_(network),
        data_(std::move(data)),
        policies_(std::move(policies)),
        training_(training),
        sampler_(training.batches, data_->slots, training.batch_size, training.seed),
        normals_(StreamKey(training.seed, Purpose::noise)),
        drawn_(network.parameter_count()) {
    const std::size_t worlds = data_->worlds.size();
    for (std::size_t p = 0; p < policies_.size(); ++p) {
      noisy_ |= policies_[p].kind != NoiseKind::none;
      for (std::size_t w = 0; w < worlds; ++w) {
        ModelRecord record;
        record.policy = p;
        record.world = w;
        if (training.gradient_differences) {
          record.squared_differences.assign(network.parameter_count(), 0.0);
        }
        models_.push_back(std::move(record));
      }
    }
    const std::vector<float> start = initial_parameters(network, training.seed);
    for (const std::vector<std::size_t>& set : bundle_sets()) {
      std::size_t first = 0;
      for (const std::size_t size : bundle_sizes(set.size())) {
        Bundled bundled{{}, Bundle(network, size)};
        for (std::size_t m = 0; m < size; ++m) {
          bundled.members.push_back(set[first + m]);
          bundled.bundle.set_parameters(m, start);
        }
        bundles_.push_back(std::move(bundled));
        first += size;
      }
    }
  }

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
    for (const Bundled& bundled : bundles_) {
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
    for (std::size_t from = 0; from < store.count(); from += kEvaluated) {
      const std::size_t count = std::min(kEvaluated, store.count() - from);
      rows_.clear(network_.input().size());
      for (std::size_t i = 0; i < count; ++i) rows_.add(static_cast<std::uint32_t>(from + i));
      rows_.expand(store, labels, reads_sparse_rows());
      for (Bundled& bundled : bundles_) {
        const std::size_t models = bundled.bundle.models();
        losses.resize(models * count);
        predicted.resize(models * count);
        bundled.bundle.evaluate(rows_.inputs(), rows_.labels(), losses.data(), predicted.data());
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

  [[nodiscard]] GroupState state() const {
    GroupState state{step_, {}, models_};
    for (std::size_t m = 0; m < models_.size(); ++m) state.parameters.push_back(parameters(m));
    return state;
  }

  void restore(GroupState state) {
    bool fits = state.models.size() == models_.size() && state.parameters.size() == models_.size();
    for (std::size_t m = 0; fits && m < models_.size(); ++m) {
      fits = state.parameters[m].size() == network_.parameter_count() &&
             state.models[m].policy == models_[m].policy &&
             state.models[m].world == models_[m].world &&
             state.models[m].squared_differences.size() == models_[m].squared_differences.size();
    }
    if (!fits) {
      throw InvalidArgument("the saved state is of another group of models",
                            "Resume with the study that made it");
    }
    for (Bundled& bundled : bundles_) {
      for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
        bundled.bundle.set_parameters(m, state.parameters[bundled.members[m]]);
      }
    }
    step_ = state.step;
    models_ = std::move(state.models);
  }

 private:
  struct Bundled {
    std::vector<std::size_t> members;  ///< numbers of the bundle's models
    Bundle bundle;
  };

  /// Models that may be in a bundle together: a bundle has one array of fixed variances at most.
  [[nodiscard]] std::vector<std::vector<std::size_t>> bundle_sets() const {
    std::vector<const std::vector<float>*> arrays = {nullptr};
    std::vector<std::vector<std::size_t>> sets(1);
    for (std::size_t m = 0; m < models_.size(); ++m) {
      const std::vector<float>* fixed = policies_[models_[m].policy].fixed.get();
      std::size_t set = 0;
      if (fixed != nullptr) {
        if (arrays[0] == nullptr) arrays[0] = fixed;
        const auto found = std::find(arrays.begin(), arrays.end(), fixed);
        set = static_cast<std::size_t>(found - arrays.begin());
        if (found == arrays.end()) {
          arrays.push_back(fixed);
          sets.emplace_back();
        }
      }
      sets[set].push_back(m);
    }
    return sets;
  }

  [[nodiscard]] bool reads_sparse_rows() const {
    return bundles_.front().bundle.reads_sparse_rows();
  }

  [[nodiscard]] float unit() const {
    return training_.loss == LossScale::mean ? 1.0F / static_cast<float>(training_.batch_size)
                                             : 1.0F;
  }

  /// The rows of the step's batch, and for each world how much each counts: row_weights_[world][row]. A
  /// slot that a world has changed counts nothing there; what it holds instead is a row of its own.
  /// Returns whether the batch tells any two worlds apart.
  bool gather(std::span<const std::uint32_t> batch) {
    const std::size_t worlds = data_->worlds.size();
    rows_.clear(network_.input().size());
    for (const std::uint32_t slot : batch) rows_.add(slot);
    extra_.clear();
    bool differs = false;
    for (auto& weights : row_weights_) weights.clear();
    row_weights_.resize(worlds);
    for (auto& weights : row_weights_) weights.assign(batch.size(), unit());
    for (std::size_t r = 0; r < batch.size(); ++r) {
      for (std::uint32_t c = data_->first_change[batch[r]]; c < data_->first_change[batch[r] + 1];
           ++c) {
        const TrainingData::Change& change = data_->changes[c];
        row_weights_[change.world][r] = 0.0F;
        differs = true;
        if (!change.empty) extra_.push_back({rows_.add(change.record), change.world});
      }
    }
    for (auto& weights : row_weights_) weights.resize(rows_.count(), 0.0F);
    for (const Extra& extra : extra_) row_weights_[extra.world][extra.row] = unit();
    rows_.expand(data_->store, data_->labels, reads_sparse_rows());
    return differs;
  }

  /// Row weights by model, for one bundle.
  void weigh(const Bundled& bundled, const std::vector<std::vector<float>>& by_world) {
    model_row_weights_.clear();
    for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
      const std::vector<float>& weights = by_world[models_[bundled.members[m]].world];
      model_row_weights_.insert(model_row_weights_.end(), weights.begin(), weights.end());
    }
  }

  /// The batch in the order of the slots' places. A batch is a set: its order is ours to choose.
  std::span<const std::uint32_t> arranged(std::span<const std::uint32_t> batch) {
    if (data_->places.empty()) return batch;
    std::array<std::uint32_t, 257> starts{};
    for (const std::uint32_t slot : batch) ++starts[data_->places[slot] + 1U];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    batch_.resize(batch.size());
    for (const std::uint32_t slot : batch) batch_[starts[data_->places[slot]]++] = slot;
    return batch_;
  }

  void one_step() {
    const bool differs = gather(arranged(sampler_.batch(step_)));
    if (noisy_) {
      normals_.fill_normal(step_, 0, std::span<float>(drawn_.data(), network_.parameter_count()));
    }
    const bool log = training_.log_every != 0 && step_ % training_.log_every == 0;
    const bool watch = log || step_ % kWatch == 0 || step_ + 1 == training_.iterations;
    const bool compare = differs && (training_.path_kl || training_.gradient_differences);
    for (Bundled& bundled : bundles_) {
      if (rows_.count() == 0) {
        skip_gradients(bundled);
      } else {
        if (compare) compute_differences(bundled);
        weigh(bundled, row_weights_);
        losses_.resize(bundled.bundle.models() * rows_.count());
        bundled.bundle.compute_gradients(
            {rows_.inputs(), rows_.labels(), model_row_weights_.data()},
            watch ? losses_.data() : nullptr);
        if (watch) look_at_losses(bundled, log);
        if (compare) measure_differences(bundled);
      }
      update(bundled);
    }
  }

  /// An empty Poisson batch: gradients are zero.
  void skip_gradients(Bundled& bundled) {
    rows_.add(0);
    rows_.expand(data_->store, data_->labels, reads_sparse_rows());
    const std::vector<float> nothing(bundled.bundle.models(), 0.0F);
    bundled.bundle.compute_gradients({rows_.inputs(), rows_.labels(), nothing.data()}, nullptr);
    rows_.clear(network_.input().size());
  }

  void look_at_losses(const Bundled& bundled, bool log) {
    const std::size_t count = rows_.count();
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

  void update(Bundled& bundled) {
    const std::size_t models = bundled.bundle.models();
    scales_.resize(models);
    bias_scales_.resize(models);
    const auto rate = static_cast<float>(training_.learning_rate);
    for (std::size_t b = 0; b < network_.blocks().size(); ++b) {
      const float* fixed = nullptr;
      if (noisy_) {
        largest_weight_gradients_.assign(models, 0.0F);
        largest_bias_gradients_.assign(models, 0.0F);
        if (needs_largest(bundled)) {
          bundled.bundle.largest_gradients(b, largest_weight_gradients_, largest_bias_gradients_);
        }
        for (std::size_t m = 0; m < models; ++m) {
          const NoisePolicy& policy = policies_[models_[bundled.members[m]].policy];
          const BlockScales scales =
              noise_scales(policy, training_.learning_rate, largest_weight_gradients_[m],
                           largest_bias_gradients_[m]);
          scales_[m] = scales.weights;
          bias_scales_[m] = scales.biases;
        }
        fixed = fixed_variances(bundled);
      }
      bundled.bundle.update(b, rate, scales_, bias_scales_, noisy_ ? drawn_.data() : nullptr,
                            fixed);
    }
  }

  [[nodiscard]] bool needs_largest(const Bundled& bundled) const {
    for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
      const NoiseKind kind = policies_[models_[bundled.members[m]].policy].kind;
      if (kind == NoiseKind::isotropic_per_layer) return true;
    }
    return false;
  }

  /// The fixed variances of a bundle, if it has any.
  [[nodiscard]] const float* fixed_variances(const Bundled& bundled) {
    for (std::size_t m = 0; m < bundled.bundle.models(); ++m) {
      const NoisePolicy& policy = policies_[models_[bundled.members[m]].policy];
      if (policy.kind != NoiseKind::fixed) continue;
      AlignedFloats& padded = fixed_[policy.fixed.get()];
      if (padded.size() == 0) {
        padded.require(policy.fixed->size());
        std::copy(policy.fixed->begin(), policy.fixed->end(), padded.data());
      }
      return padded.data();
    }
    return nullptr;
  }

  /// What the other world's gradient has more than the model's own, from the rows that differ alone:
  /// where the worlds agree the difference is then exactly zero. Before the gradient of the step, for it uses
  /// the bundle's gradient and model_row_weights_ and leaves its own there.
  void compute_differences(Bundled& bundled) {
    const std::size_t models = bundled.bundle.models();
    differing_labels_.clear();
    differing_rows_.clear();
    for (std::size_t r = 0; r < rows_.count(); ++r) {
      if (row_weights_[0][r] == row_weights_[1][r]) continue;
      differing_rows_.push_back(r);
      differing_labels_.push_back(rows_.labels()[r]);
    }
    model_row_weights_.clear();
    for (std::size_t m = 0; m < models; ++m) {
      const std::size_t own = models_[bundled.members[m]].world;
      for (const std::size_t r : differing_rows_) {
        model_row_weights_.push_back(row_weights_[1 - own][r] - row_weights_[own][r]);
      }
    }
    bundled.bundle.compute_gradients(
        {rows_.inputs(differing_rows_), differing_labels_.data(), model_row_weights_.data()},
        nullptr);
    differences_.resize(models);
    for (std::size_t m = 0; m < models; ++m) {
      differences_[m].resize(network_.parameter_count());
      bundled.bundle.get_gradient(m, differences_[m]);
    }
  }

  void measure_differences(Bundled& bundled) {
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
      const NoisePolicy& policy = policies_[record.policy];
      const double rate = training_.learning_rate;
      record.path_kl.add(
          step_kl_by_coordinate(rate, own, other, step_variances(policy, rate, network_, own),
                                step_variances(policy, rate, network_, other)),
          step_);
    }
  }

  struct Extra {
    std::size_t row;
    std::uint32_t world;
  };

  Network network_;
  std::shared_ptr<const TrainingData> data_;
  std::vector<NoisePolicy> policies_;
  Training training_;
  BatchSampler sampler_;
  Stream normals_;
  AlignedFloats drawn_;
  bool noisy_ = false;
  std::uint64_t step_ = 0;
  std::vector<ModelRecord> models_;
  std::vector<Bundled> bundles_;
  std::vector<std::uint32_t> batch_;
  Rows rows_;
  std::vector<std::vector<float>> row_weights_;
  std::vector<Extra> extra_;
  std::vector<float> model_row_weights_, losses_, largest_weight_gradients_,
      largest_bias_gradients_;
  std::vector<NoiseScale> scales_, bias_scales_;
  std::map<const std::vector<float>*, AlignedFloats> fixed_;
  std::vector<std::size_t> differing_rows_;
  std::vector<std::uint8_t> differing_labels_;
  std::vector<std::vector<float>> differences_;
};

TrialGroup::TrialGroup(const Network& network, std::shared_ptr<const TrainingData> data,
                       std::vector<NoisePolicy> policies, const Training& training,
                       const Where& where) {
  if (network.input() != data->store.shape() &&
      network.input().size() != data->store.shape().size()) {
    throw InvalidArgument(
        fmt::format("the first layer `{}` takes records of {} numbers, the data have {}",
                    network.layers().front().name, network.input().text(),
                    data->store.shape().text()),
        "Choose a network for these data", where);
  }
  if (network.classes() < data->classes) {
    throw InvalidArgument(
        fmt::format("the last layer `{}` has {} outputs, the data {} classes",
                    network.layers().back().name, network.classes(), data->classes),
        "Give it one output per class", where);
  }
  if (policies.empty()) {
    throw InvalidArgument("no noise policy", "Give at least the policy `none`", where);
  }
  for (const NoisePolicy& policy : policies) require_valid(policy, network, where);
  if (!(std::isfinite(training.learning_rate) && training.learning_rate > 0.0)) {
    throw InvalidArgument(
        fmt::format("learning_rate = {} is not a finite positive number", training.learning_rate),
        "Give the factor of the gradient in a step", where);
  }
  if ((training.path_kl || training.gradient_differences) && data->worlds.size() != 2) {
    throw InvalidArgument(
        fmt::format("the path KL compares two worlds, there are {}", data->worlds.size()),
        "Train in D and D', or leave the path KL out", where);
  }
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

}  // namespace sfumato
