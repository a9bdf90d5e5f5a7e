#include "lab/study/measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/nn/minibatch_covariance.hpp"
#include "sfumato/core/check.hpp"

namespace sfumato::lab {
namespace {

std::optional<ModelSummary> summary_of(const std::vector<float>& losses,
                                       const std::vector<std::uint8_t>& predicted,
                                       std::span<const std::uint8_t> labels,
                                       const std::vector<std::uint32_t>& records) {
  ModelSummary summary;
  std::size_t right = 0;
  for (const std::uint32_t record : records) {
    const auto loss = static_cast<double>(losses[record]);
    if (!std::isfinite(loss)) return std::nullopt;
    summary.mean_loss += loss;
    summary.largest_loss = std::max(summary.largest_loss, loss);
    right += predicted[record] == labels[record] ? 1U : 0U;
  }
  summary.records = records.size();
  const double count = static_cast<double>(std::max<std::size_t>(1, records.size()));
  summary.mean_loss /= count;
  summary.accuracy = static_cast<double>(right) / count;
  return summary;
}

/// The records of the store that a world holds.
std::vector<std::uint32_t> held(const TrainingData& data, std::size_t world) {
  std::vector<std::uint32_t> records;
  for (std::uint32_t slot = 0; slot < data.slots; ++slot) {
    bool changed = false;
    for (std::uint32_t c = data.first_change[slot]; c < data.first_change[slot + 1]; ++c) {
      const TrainingData::Change& change = data.changes[c];
      if (change.world != world) continue;
      changed = true;
      if (!change.empty) records.push_back(change.record);
    }
    if (!changed) records.push_back(slot);
  }
  return records;
}

// Enough for two digits of a descriptive number; each step is a pass over the data.
constexpr std::uint64_t kProbes = 30;
constexpr LanczosOptions kLanczos = {.count = 1, .most_steps = 60, .tolerance = 1e-4};

std::vector<double> in_double(std::span<const float> parameters) {
  return {parameters.begin(), parameters.end()};
}

double norm(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

}  // namespace

std::vector<std::optional<ModelSummary>> summarise_training(TrialGroup& group,
                                                            const TrainingData& data) {
  const TrialGroup::Evaluation evaluation = group.evaluate(data.store, data.labels);
  std::vector<std::optional<ModelSummary>> summaries;
  for (std::size_t m = 0; m < group.models().size(); ++m) {
    summaries.push_back(summary_of(evaluation.losses[m], evaluation.predicted[m], data.labels,
                                   held(data, group.models()[m].world)));
  }
  return summaries;
}

std::vector<std::optional<ModelSummary>> summarise(TrialGroup& group, const RecordStore& store,
                                                   std::span<const std::uint8_t> labels) {
  require_size("labels", std::ssize(labels), static_cast<std::ptrdiff_t>(store.count()));
  const TrialGroup::Evaluation evaluation = group.evaluate(store, labels);
  std::vector<std::uint32_t> records(store.count());
  std::iota(records.begin(), records.end(), 0U);
  std::vector<std::optional<ModelSummary>> summaries;
  for (std::size_t m = 0; m < group.models().size(); ++m) {
    summaries.push_back(summary_of(evaluation.losses[m], evaluation.predicted[m], labels, records));
  }
  return summaries;
}

WorldRecords::WorldRecords(const TrainingData& data, std::size_t world) {
  const std::size_t size = data.store.shape().size();
  values_.reserve(data.slots * size);  // the records point into it
  std::vector<float> room(size + 8);
  for (std::uint32_t slot = 0; slot < data.slots; ++slot) {
    std::optional<std::uint32_t> record = slot;
    for (std::uint32_t c = data.first_change[slot]; c < data.first_change[slot + 1]; ++c) {
      const TrainingData::Change& change = data.changes[c];
      if (change.world != world) continue;
      record = change.empty ? std::nullopt : std::optional(change.record);
    }
    if (!record) {
      records_.push_back({});
      continue;
    }
    const float* inputs = data.store.inputs(*record, room.data());
    const std::size_t from = values_.size();
    values_.insert(values_.end(), inputs, inputs + size);
    records_.push_back({{values_.data() + from, size}, data.labels[*record]});
  }
}

HessianMeasure measure_hessian(const Network& network, std::span<const float> parameters,
                               const WorldRecords& world, LossScale scale, std::uint64_t seed) {
  const std::vector<double> at = in_double(parameters);
  return {hessian_trace(network, at, world.records(), scale, kProbes, seed),
          largest_hessian_eigenvalue(network, at, world.records(), scale, kLanczos)};
}

FlatnessMeasure measure_flatness(const Network& network, std::span<const float> parameters,
                                 const WorldRecords& d, const WorldRecords& d_prime) {
  const auto &ours = d.records(), &theirs = d_prime.records();
  std::optional<std::size_t> slot;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const bool same = ours[i].label == theirs[i].label &&
                      std::equal(ours[i].values.begin(), ours[i].values.end(),
                                 theirs[i].values.begin(), theirs[i].values.end());
    if (same) continue;
    if (slot || ours[i].values.empty()) {
      throw InvalidArgument("D and D' differ in more than one record that D holds",
                            "Measure the flatness of an adjacent pair");
    }
    slot = i;
  }
  if (!slot) {
    throw InvalidArgument("D and D' hold the same records",
                          "Measure the flatness of an adjacent pair");
  }
  const std::vector<double> at = in_double(parameters);
  const LabelledRecord &record = ours[*slot], &other = theirs[*slot];
  if (!other.values.empty()) {
    Claimed<RecordSensitivity> segment =
        record_sensitivity(network, at, record, other, 17, kLanczos);
    return {segment.value.gradient_difference, segment.value.largest_norm, std::move(segment)};
  }
  const auto mixed = mixed_derivative_norm(network, at, record_point(network, record),
                                           RecordMoves::values, kLanczos);
  return {norm(record_gradient(network, at, record).gradient), mixed.value.value, std::nullopt};
}

std::optional<CovarianceMeasure> measure_covariance(const Network& network,
                                                    std::span<const float> parameters,
                                                    const WorldRecords& world,
                                                    const Training& training) {
  if (training.batches == BatchScheme::poisson) return std::nullopt;
  MinibatchOptions batches{static_cast<Eigen::Index>(training.batch_size),
                           training.batches == BatchScheme::with_replacement
                               ? BatchSampling::with_replacement
                               : BatchSampling::without_replacement,
                           training.loss};
  MinibatchSpectrumOptions options;
  options.leading = kLanczos;
  const MinibatchSpectrum spectrum =
      minibatch_spectrum(network, in_double(parameters), world.records(), batches, options);
  const bool any = spectrum.leading.values.size() > 0;
  return CovarianceMeasure{spectrum.trace, any ? spectrum.leading.values[0] : 0.0,
                           any ? spectrum.leading.residuals[0] : 0.0};
}

}  // namespace sfumato::lab
