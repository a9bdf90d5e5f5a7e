#include "sfumato/nn/trial_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "sfumato/divergence/step_kl.hpp"
#include "sfumato/nn/aligned_floats.hpp"
#include "sfumato/nn/bundle.hpp"
#include "sfumato/nn/gradient_canary.hpp"
#include "sfumato/nn/gradient_moments.hpp"
#include "sfumato/nn/initialise.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/nn/private_noise.hpp"
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
    squares_.resize(records_.size());
    for (std::size_t r = 0; r < records_.size(); ++r) {
      float* room = values_.data() + r * stride_;
      if (r + kAhead < records_.size()) store.expect(records_[r + kAhead]);
      if (sparse) {
        sparse_.push_back(store.sparse_row(records_[r], room));
      } else {
        plain_.push_back(store.inputs(records_[r], room));
      }
      labels_[r] = labels[records_[r]];
      squares_[r] = store.squared_norm(records_[r]);
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
  /// Sums of squares of the inputs.
  [[nodiscard]] const double* squares() const { return squares_.data(); }

 private:
  std::size_t stride_ = 0;
  std::vector<std::uint32_t> records_;
  AlignedFloats values_;
  std::vector<const float*> plain_, some_plain_;
  std::vector<kernel::SparseRow> sparse_, some_sparse_;
  const float* shift_ = nullptr;
  std::vector<std::uint8_t> labels_;
  std::vector<double> squares_;
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
        sampler_(
            training.key
                ? BatchSampler(training.batches, data_->slots, training.batch_size, training.key)
                : BatchSampler(training.batches, data_->slots, training.batch_size, training.seed)),
        normals_(StreamKey(training.noise_seed.value_or(training.seed), Purpose::noise)),
        factor_stream_(StreamKey(training.noise_seed.value_or(training.seed), Purpose::noise, {1})),
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
    const std::vector<float> start =
        initial_parameters(network, training.init_seed.value_or(training.seed));
    for (const std::vector<std::size_t>& set : bundle_sets()) {
      std::size_t first = 0;
      for (const std::size_t size : bundle_sizes(set.size())) {
        Bundled bundled{{}, Bundle(network, size)};
        for (std::size_t m = 0; m < size; ++m) {
          bundled.members.push_back(set[first + m]);
          bundled.bundle.set_parameters(m, start);
        }
        prepare_clipping(bundled);
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

  [[nodiscard]] GroupState state() {
    GroupState state;
    state.step = step_;
    state.models = models_;
    for (std::size_t m = 0; m < models_.size(); ++m) state.parameters.push_back(parameters(m));
    state.velocities.resize(models_.size());
    state.averages.resize(models_.size());
    state.moments.resize(models_.size());
    for (Bundled& bundled : bundles_) {
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
             state.models[m].squared_differences.size() == models_[m].squared_differences.size();
      const bool velocities = m < state.velocities.size() && !state.velocities[m].empty();
      const bool averaged = m < state.averages.size() && !state.averages[m].empty();
      const bool moments = m < state.moments.size() && !state.moments[m].empty();
      fits = fits && velocities == uses_velocity(policies_[models_[m].policy]) &&
             averaged == averages() &&
             moments == (policies_[models_[m].policy].metric == PrivateMetric::released);
    }
    if (!fits) {
      throw InvalidArgument("the saved state is of another group of models",
                            "Resume with the study that made it");
    }
    const auto saved = [](const auto& list, std::size_t model) {
      return model < list.size() && !list[model].empty();
    };
    for (Bundled& bundled : bundles_) {
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
  struct Bundled {
    std::vector<std::size_t> members;  ///< numbers of the bundle's models
    Bundle bundle;
    bool clipped = false, by_velocity = false;
    std::vector<std::vector<double>> deviations =
        {};  ///< of clipped gradients' noise: by model and block
    std::optional<GradientMoments> released = {};  ///< of the one model
    AlignedFloats shape = {};                      ///< its variances in this step
  };

  [[nodiscard]] bool averages() const { return training_.average_last > 0; }
  [[nodiscard]] bool uses_velocity(const NoisePolicy& policy) const {
    return training_.momentum > 0.0 || policy.metric == PrivateMetric::released;
  }

  void prepare_clipping(Bundled& bundled) {
    const NoisePolicy& first = policies_[models_[bundled.members.front()].policy];
    bundled.by_velocity = uses_velocity(first);
    bundled.clipped = first.kind == NoiseKind::clipped;
    if (!bundled.clipped) return;
    std::vector<Clipping> clipping;
    for (const std::size_t model : bundled.members) {
      const NoisePolicy& policy = policies_[models_[model].policy];
      clipping.push_back(clipping_of(policy));
      bundled.deviations.push_back(block_deviations(policy, network_));
    }
    bundled.bundle.clip(std::move(clipping), inverse_shape(first));
    if (first.metric == PrivateMetric::released) {
      bundled.released.emplace(network_.parameter_count());
      bundled.shape.require(network_.parameter_count());
    }
  }

  /// Models that may be in a bundle together: of one way to clip, and with one array of fixed variances at most.
  [[nodiscard]] std::vector<std::vector<std::size_t>> bundle_sets() const {
    using Key = std::pair<bool, const void*>;  ///< clipped, and by what array
    std::vector<Key> keys = {{false, nullptr}};
    std::vector<std::vector<std::size_t>> sets(1);
    const auto set_of = [&](const Key& key) {
      const auto found = std::find(keys.begin(), keys.end(), key);
      const auto set = static_cast<std::size_t>(found - keys.begin());
      if (found == keys.end()) {
        keys.push_back(key);
        sets.emplace_back();
      }
      return set;
    };
    for (std::size_t m = 0; m < models_.size(); ++m) {
      const NoisePolicy& policy = policies_[models_[m].policy];
      const void* fixed = policy.fixed.get();
      if (policy.kind == NoiseKind::clipped) {
        // Norms are those of the whole bundle: a released metric is alone, Euclidean ones are together.
        if (policy.metric == PrivateMetric::released) fixed = &models_[m];
        sets[set_of({true, fixed})].push_back(m);
        continue;
      }
      std::size_t set = 0;
      if (fixed != nullptr) {
        if (keys[0].second == nullptr) keys[0].second = fixed;
        set = set_of({false, fixed});
      }
      sets[set].push_back(m);
    }
    sets.erase(
        std::remove_if(sets.begin(), sets.end(), [](const auto& set) { return set.empty(); }),
        sets.end());
    return sets;
  }

  [[nodiscard]] bool reads_sparse_rows() const {
    return bundles_.front().bundle.reads_sparse_rows();
  }

  [[nodiscard]] float unit() const {
    return training_.loss == LossScale::mean
               ? 1.0F / static_cast<float>(sampler_.nominal_size(step_))
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
    find_canary(batch);
    rows_.expand(data_->store, data_->labels, reads_sparse_rows());
    return differs;
  }

  /// In which worlds the canary takes part in the step; the record in whose place it is counts nothing.
  void find_canary(std::span<const std::uint32_t> batch) {
    canary_worlds_.assign(data_->worlds.size(), false);
    if (!training_.canary_slot) return;
    for (std::size_t r = 0; r < batch.size(); ++r) {
      if (batch[r] != *training_.canary_slot) continue;
      for (std::size_t w = 0; w < canary_worlds_.size(); ++w) {
        canary_worlds_[w] = row_weights_[w][r] != 0.0F;
        row_weights_[w][r] = 0.0F;
      }
    }
  }

  /// Adds the canary where it takes part, updates, and looks at what the step moved beyond the other records' sum.
  void update_with_canary(Bundled& bundled) {
    const std::size_t models = bundled.members.size();
    std::vector<std::vector<float>> others(models, std::vector<float>(network_.parameter_count()));
    std::vector<std::vector<float>> before = others;
    for (std::size_t m = 0; m < models; ++m) {
      const ModelRecord& record = models_[bundled.members[m]];
      bundled.bundle.get_gradient(m, others[m]);
      bundled.bundle.get_parameters(m, before[m]);
      if (!canary_worlds_[record.world]) continue;
      const GradientCanary canary = gradient_canary(policies_[record.policy], network_);
      std::vector<float> values(network_.parameter_count(), 0.0F);
      for (std::size_t i = 0; i < canary.values.size(); ++i) {
        values[canary.coordinates[i]] = unit() * canary.values[i];
      }
      bundled.bundle.add_to_gradient(m, values);
    }
    update(bundled);
    std::vector<float> after(network_.parameter_count());
    for (std::size_t m = 0; m < models; ++m) {
      ModelRecord& record = models_[bundled.members[m]];
      const GradientCanary canary = gradient_canary(policies_[record.policy], network_);
      bundled.bundle.get_parameters(m, after);
      for (std::size_t i = 0; i < canary.coordinates.size(); ++i) {
        const std::size_t at = canary.coordinates[i];
        const double moved = (static_cast<double>(before[m][at]) - static_cast<double>(after[at])) /
                             training_.rate_at(step_);
        record.canary_score += canary.weights[i] * (moved - static_cast<double>(others[m][at])) /
                               static_cast<double>(unit());
      }
    }
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
    if (noisy_) draw_normals();
    const bool log = training_.log_every != 0 && step_ % training_.log_every == 0;
    const bool watch = log || step_ % kWatch == 0 || step_ + 1 == training_.iterations;
    const bool compare = differs && (training_.path_kl || training_.gradient_differences);
    for (Bundled& bundled : bundles_) {
      if (bundled.released) shape_noise(bundled);
      if (rows_.count() == 0) {
        skip_gradients(bundled);
      } else {
        if (compare) compute_differences(bundled);
        weigh(bundled, row_weights_);
        losses_.resize(bundled.bundle.models() * rows_.count());
        bundled.bundle.compute_gradients(
            {rows_.inputs(), rows_.labels(), model_row_weights_.data(), rows_.squares()},
            watch ? losses_.data() : nullptr);
        count_zeroed(bundled);
        if (watch) look_at_losses(bundled, log);
        if (compare) measure_differences(bundled);
      }
      if (training_.canary_slot) {
        update_with_canary(bundled);
      } else {
        update(bundled);
      }
      if (averages() && step_ + training_.average_last >= training_.iterations) {
        bundled.bundle.add_to_average(step_ + training_.average_last + 1 - training_.iterations);
        if (step_ + 1 == training_.iterations) bundled.bundle.adopt_average();
      }
    }
  }

  void draw_normals() {
    const std::span<float> normals(drawn_.data(), network_.parameter_count());
    if (!training_.key) return normals_.fill_normal(step_, 0, normals);
    ReleaseBits bits(*training_.key, 2 * step_);
    std::array<double, 256> some{};
    for (std::size_t done = 0; done < normals.size(); done += some.size()) {
      const std::size_t count = std::min(some.size(), normals.size() - done);
      sfumato::fill_normal(bits, std::span(some).first(count));
      for (std::size_t i = 0; i < count; ++i) normals[done + i] = static_cast<float>(some[i]);
    }
  }

  void count_zeroed(const Bundled& bundled) {
    for (std::size_t m = 0; m < bundled.members.size(); ++m) {
      models_[bundled.members[m]].zeroed_records += bundled.bundle.zeroed()[m];
    }
  }

  /// The metric of a step from what the steps before it have released.
  void shape_noise(Bundled& bundled) {
    const std::vector<float> shape = step_ < warm_up_steps(training_.iterations)
                                         ? std::vector<float>(network_.parameter_count(), 1.0F)
                                         : bundled.released->shape();
    std::vector<float> inverse(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) inverse[i] = 1.0F / shape[i];
    std::copy(shape.begin(), shape.end(), bundled.shape.data());
    const NoisePolicy& policy = policies_[models_[bundled.members.front()].policy];
    bundled.bundle.clip({clipping_of(policy)}, inverse);
  }

  /// What the step has released: its noisy gradient is the velocity, since there is no momentum.
  void keep_released(Bundled& bundled) {
    std::vector<float> gradient(network_.parameter_count());
    bundled.bundle.get_velocity(0, gradient);
    const std::vector<double> released(gradient.begin(), gradient.end());
    std::vector<double> variances(gradient.size());
    const double deviation = static_cast<double>(unit()) * bundled.deviations[0][0];
    for (std::size_t i = 0; i < variances.size(); ++i) {
      variances[i] = deviation * deviation * static_cast<double>(bundled.shape.data()[i]);
    }
    bundled.released->add(released, variances);
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

  /// The noise of clipped gradients is on their sum, which `factor` is multiplied with.
  void update_clipped(Bundled& bundled) {
    const std::size_t models = bundled.bundle.models();
    add_low_rank_noise(bundled);
    const double rate = training_.rate_at(step_);
    const double factor = static_cast<double>(unit()) * (bundled.by_velocity ? 1.0 : rate);
    const float* shape = bundled.released ? bundled.shape.data() : fixed_variances(bundled);
    for (std::size_t b = 0; b < network_.blocks().size(); ++b) {
      scales_.assign(models, NoiseScale{});
      for (std::size_t m = 0; m < models; ++m) {
        const auto variance = static_cast<float>(std::pow(factor * bundled.deviations[m][b], 2));
        (shape == nullptr ? scales_[m].constant : scales_[m].fixed_factor) = variance;
      }
      if (bundled.by_velocity) {
        bundled.bundle.update_by_velocity(b, static_cast<float>(training_.momentum),
                                          static_cast<float>(rate), scales_, drawn_.data(), shape);
      } else {
        bundled.bundle.update(b, static_cast<float>(rate), scales_, scales_, drawn_.data(), shape);
      }
    }
    if (bundled.released) keep_released(bundled);
  }

  /// noise_multiplier clip F y, y standard normal of the factor's rank: draws behind those of the parameters.
  void add_low_rank_noise(Bundled& bundled) {
    for (std::size_t m = 0; m < bundled.members.size(); ++m) {
      const NoisePolicy& policy = policies_[models_[bundled.members[m]].policy];
      if (!policy.factor) continue;
      std::vector<float> noise(network_.parameter_count(), 0.0F);
      std::vector<float> y(policy.factor->size());
      factor_normals(y);
      const auto scale = static_cast<float>(static_cast<double>(unit()) * bundled.deviations[m][0]);
      for (std::size_t k = 0; k < y.size(); ++k) {
        const std::vector<float>& column = (*policy.factor)[k];
        for (std::size_t i = 0; i < noise.size(); ++i) noise[i] += scale * y[k] * column[i];
      }
      bundled.bundle.add_to_gradient(m, noise);
    }
  }

  void factor_normals(std::span<float> values) {
    if (!training_.key) return factor_stream_.fill_normal(step_, 0, values);
    ReleaseBits bits(*training_.key, (std::uint64_t{1} << 63) + step_);
    std::vector<double> drawn(values.size());
    sfumato::fill_normal(bits, drawn);
    std::copy(drawn.begin(), drawn.end(), values.begin());
  }

  void update(Bundled& bundled) {
    if (bundled.clipped) return update_clipped(bundled);
    const std::size_t models = bundled.bundle.models();
    scales_.assign(models, NoiseScale{});
    bias_scales_.assign(models, NoiseScale{});
    const double learning_rate = training_.rate_at(step_);
    const auto rate = static_cast<float>(learning_rate);
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
          const BlockScales scales = noise_scales(
              policy, learning_rate, largest_weight_gradients_[m], largest_bias_gradients_[m]);
          scales_[m] = scales.weights;
          bias_scales_[m] = scales.biases;
        }
        fixed = fixed_variances(bundled);
      }
      if (bundled.by_velocity) {  // without noise, as the constructor has seen to
        bundled.bundle.update_by_velocity(b, static_cast<float>(training_.momentum), rate, scales_,
                                          nullptr, nullptr);
        continue;
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
      if (!policy.fixed) continue;
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
      const double rate = training_.rate_at(step_), factor = static_cast<double>(unit());
      record.path_kl.add(step_kl_by_coordinate(
                             rate, own, other, step_variances(policy, rate, network_, own, factor),
                             step_variances(policy, rate, network_, other, factor)),
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
  Stream normals_, factor_stream_;
  AlignedFloats drawn_;
  bool noisy_ = false;
  std::uint64_t step_ = 0;
  std::vector<ModelRecord> models_;
  std::vector<Bundled> bundles_;
  std::vector<std::uint32_t> batch_;
  Rows rows_;
  std::vector<std::vector<float>> row_weights_;
  std::vector<Extra> extra_;
  std::vector<bool> canary_worlds_;
  std::vector<float> model_row_weights_, losses_, largest_weight_gradients_,
      largest_bias_gradients_;
  std::vector<NoiseScale> scales_, bias_scales_;
  std::map<const std::vector<float>*, AlignedFloats> fixed_;
  std::vector<std::size_t> differing_rows_;
  std::vector<std::uint8_t> differing_labels_;
  std::vector<std::vector<float>> differences_;
};

namespace {

void require_optimiser(const Network& network, const std::vector<NoisePolicy>& policies,
                       const Training& training, const Where& where) {
  if (!(training.momentum >= 0.0 && training.momentum < 1.0)) {
    throw InvalidArgument(fmt::format("momentum = {} is not in [0, 1)", training.momentum),
                          "Give the weight of the steps before", where);
  }
  if (training.average_last > training.iterations) {
    throw InvalidArgument(fmt::format("the mean of the last {} of {} iterates",
                                      training.average_last, training.iterations),
                          "Average at most all of them", where);
  }
  for (const NoisePolicy& policy : policies) {
    const bool on_gradient = policy.kind == NoiseKind::clipped || policy.kind == NoiseKind::none;
    if (training.momentum > 0.0 && (!on_gradient || policy.metric == PrivateMetric::released)) {
      throw InvalidArgument(
          fmt::format("momentum with the noise policy `{}`", policy.name),
          "Use momentum with the policies none and private, other than metric = \"released\"",
          where);
    }
    if (policy.metric == PrivateMetric::released &&
        (training.path_kl || training.gradient_differences)) {
      throw InvalidArgument("the path KL of noise whose shape follows the released gradients",
                            "Leave path_kl out: the accountant's bound holds", where);
    }
    if (training.canary_slot) (void)gradient_canary(policy, network);  // refuses
    if (training.canary_slot &&
        (training.path_kl || training.gradient_differences || training.momentum > 0.0)) {
      throw InvalidArgument("a gradient canary with the path KL or with momentum",
                            "Leave path_kl, gradient_differences and momentum out", where);
    }
    if ((policy.factor || training.momentum > 0.0) && training.path_kl) {
      throw InvalidArgument(
          "the path KL of noise that is not independent from parameter to parameter, or has "
          "momentum",
          "Leave path_kl out: the accountant's bound holds", where);
    }
  }
}

}  // namespace

std::string_view name(RateSchedule schedule) {
  switch (schedule) {
    case RateSchedule::constant: return "constant";
    case RateSchedule::linear: return "linear";
    case RateSchedule::cosine: return "cosine";
  }
  throw InternalError("an unknown schedule of the learning rate");
}

double Training::rate_at(std::uint64_t step) const {
  const double done = static_cast<double>(step) / static_cast<double>(iterations);
  switch (schedule) {
    case RateSchedule::constant: return learning_rate;
    case RateSchedule::linear: return learning_rate * std::max(0.0, 1.0 - done);
    case RateSchedule::cosine:
      return learning_rate * 0.5 * (1.0 + std::cos(std::acos(-1.0) * std::min(1.0, done)));
  }
  throw InternalError("an unknown schedule of the learning rate");
}

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
  require_optimiser(network, policies, training, where);
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
