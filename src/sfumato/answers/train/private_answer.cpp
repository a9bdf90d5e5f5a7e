#include "sfumato/answers/train/private_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>

#include "sfumato/answers/train/input_metric.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/npz.hpp"
#include "sfumato/nn/state_dict.hpp"
#include "sfumato/privacy/accounting/calibrate.hpp"
#include "sfumato/random/release_bits.hpp"
#include "sfumato/study/material.hpp"
#include "sfumato/study/training_guarantee.hpp"

namespace sfumato {
namespace {

/// Streams 2 step and 2 step + 1 are those of the steps.
constexpr std::uint64_t kMomentStream = std::uint64_t{1} << 62;

Study read_private_study(const PrivateTrainQuestion& question) {
  Study study = read_study(question.study, question.settings);
  if (study.noise.size() != 1 || study.noise.front().policy != NoiseKind::clipped) {
    throw InvalidArgument(
        "a model is released with one noise policy, which is private",
        "Give one [[noise]] with policy = \"private\", or train.clip and no [[noise]]",
        Where::in(question.study));
  }
  NoiseSpec& noise = study.noise.front();
  if (!question.target_epsilon && noise.noise_multiplier == 0.0) {
    throw InvalidArgument("nothing says how much noise to add",
                          "Give target_epsilon, or noise_multiplier in the study", noise.where);
  }
  if (question.target_epsilon && noise.noise_multiplier != 0.0) {
    throw InvalidArgument("both target_epsilon and noise_multiplier say how much noise to add",
                          "Give one of them", noise.where);
  }
  // Nothing of the other world is computed, and nothing is logged: each would be a release.
  study.train.path_kl = study.train.gradient_differences = false;
  study.train.log_every = 0;
  return study;
}

/// mu of the one Gaussian release that would use up the target.
double whole_budget(const PrivacyBudget& target, NeighbouringRelation relation) {
  const PrivateRelease once{GaussianNoise{1.0}};
  const double multiplier = least_noise({relation}, {once}, target);
  return (relation == NeighbouringRelation::replace_one ? 2.0 : 1.0) / multiplier;
}

/// A release of that mu, whatever the neighbours (Spec §21.4: a Gaussian event counts double where a record is replaced).
PrivateRelease release_of_mu(double mu, NeighbouringRelation relation) {
  return {GaussianNoise{(relation == NeighbouringRelation::replace_one ? 2.0 : 1.0) / mu}};
}

struct PrivateMechanism {
  NoisePolicy policy;
  Accountant accountant;
  double metric_mu = 0.0;  ///< of the inputs' second moments; 0: they are not released
};

/// The policy with its multiplier, and everything that will be released.
PrivateMechanism mechanism_of(const PrivateTrainQuestion& question, const Study& study,
                              const Network& network, std::size_t records, bool input_metric) {
  const NeighbouringRelation relation = relation_of(study.adjacency.kind);
  Study plain = study;
  if (question.target_epsilon) plain.noise.front().noise_multiplier = 1.0;
  PrivateMechanism found{policies_of(plain, network).front(), Accountant(relation)};
  PrivateReleases before{relation};
  if (input_metric) {
    if (!question.target_epsilon) {
      throw InvalidArgument("the metric `input` shares a budget, and none is given",
                            "Give target_epsilon instead of noise_multiplier",
                            study.noise.front().where);
    }
    const PrivacyBudget target{Epsilon(*question.target_epsilon), Delta(question.target_delta)};
    found.metric_mu = std::sqrt(question.metric_share) * whole_budget(target, relation);
    before.list.push_back(release_of_mu(found.metric_mu, relation));
    found.accountant.compose(before.list.front());
  }
  PrivateRelease steps = release_of_training(found.policy, network, study.train, records);
  require_accountable(steps, relation, 1);
  if (question.target_epsilon) {
    const PrivacyBudget target{Epsilon(*question.target_epsilon), Delta(question.target_delta)};
    // A little more, for the rounding between the multiplier here and what it comes to in the policy.
    const double multiplier = least_noise(before, {steps}, target) * (1.0 + 1e-12);
    if (multiplier == 0.0) {
      throw InvalidArgument("the target is met without any noise, so that it means little",
                            "Ask for a smaller delta: below one over the number of records",
                            Where::key("target_delta"));
    }
    plain.noise.front().noise_multiplier = multiplier;
    found.policy = policies_of(plain, network).front();
    steps = release_of_training(found.policy, network, study.train, records);
  }
  found.accountant.compose(steps);
  return found;
}

void prepare_out(const PrivateTrainQuestion& question) {
  if (question.out.empty()) return;
  const std::filesystem::path model = std::filesystem::path(question.out) / "model.npz";
  std::error_code failed;
  std::filesystem::create_directories(question.out, failed);
  if (failed) {
    throw StorageError(fmt::format("cannot make the directory: {}", failed.message()),
                       "Choose another --out", Where::in(question.out));
  }
  if (std::filesystem::exists(model) && !question.force) {
    throw StorageError("a model is there already", "Add --force to replace it",
                       Where::in(model.string()));
  }
}

void write_model(const PrivateTrainAnswer& answer) {
  NpzWriter writer;
  for (const NamedTensor& tensor : state_dict(answer.network, answer.parameters)) {
    writer.add(tensor.name, tensor.values, tensor.shape);
  }
  const std::filesystem::path directory(answer.question.out);
  writer.write((directory / "model.npz").string(), Compression::stored);
}

}  // namespace

PrivateTrainAnswer answer(const PrivateTrainQuestion& question, Observer& observer) {
  Study study = read_private_study(question);
  prepare_out(question);
  const bool input_metric = study.noise.front().metric == PrivateMetric::input;
  if (input_metric) study.noise.front().metric = PrivateMetric::isotropic;
  StudySets sets = load_sets(study);
  const Network network = network_of(study.model, sets.train);
  const std::size_t records = study.data.records == 0 ? sets.train.count() : study.data.records;
  const Slots slots = random_slots(sets.train, records, study.data.seed);
  const PrivateMechanism mechanism = mechanism_of(question, study, network, records, input_metric);

  PrivateTrainAnswer answer{question,
                            study,
                            network,
                            mechanism.policy,
                            question.target_epsilon.has_value(),
                            records,
                            mechanism.accountant.guarantee(Delta(question.target_delta))};
  const auto key = std::make_shared<const ReleaseKey>(
      question.seed ? ReleaseKey::from_seed(*question.seed) : ReleaseKey::from_system());
  answer.secret = key->secret();
  study.train.key = key;

  std::optional<InputMetric> metric;
  if (input_metric) {
    answer.policy.metric = PrivateMetric::input;
    ReleaseBits bits(*key, kMomentStream);
    const double bound =
        question.input_bound.value_or(std::sqrt(static_cast<double>(sets.train.shape.size())));
    metric = release_input_metric(network, sets.train, slots,
                                  {mechanism.metric_mu, bound, question.metric_floor},
                                  relation_of(study.adjacency.kind), bits, observer);
    answer.input_metric = {mechanism.metric_mu, metric->noise_std, metric->ridge,
                           metric->effective_dimension};
    sets.train = whitened(sets.train, *metric);
    if (sets.test) sets.test = whitened(*sets.test, *metric);
  }

  const auto data = std::make_shared<const TrainingData>(sets.train, slots, std::vector{World{}});
  TrialGroup group(network, data, {mechanism.policy}, study.train, Where::in(question.study));
  const auto start = std::chrono::steady_clock::now();
  group.train_until(study.train.iterations, observer);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.finished = group.step() >= study.train.iterations;
  if (!answer.finished) return answer;
  const ModelRecord& record = group.models().front();
  answer.zeroed_records = record.zeroed_records;
  answer.parameters = group.parameters(0);
  // By what is released: losses of the records are not.
  answer.diverged = !std::all_of(answer.parameters.begin(), answer.parameters.end(),
                                 [](float p) { return std::isfinite(p); });
  if (metric) answer.parameters = unwhitened(network, std::move(answer.parameters), *metric);
  if (sets.test && !answer.diverged) {
    const std::size_t wanted = study.data.test_records;
    std::vector<std::uint32_t> tested(wanted == 0 ? sets.test->count()
                                                  : std::min(wanted, sets.test->count()));
    std::iota(tested.begin(), tested.end(), 0U);
    answer.test = summarise(group, RecordStore(*sets.test, tested),
                            std::span(sets.test->labels).first(tested.size()))
                      .front();
  }
  if (!question.out.empty()) write_model(answer);
  return answer;
}

}  // namespace sfumato
