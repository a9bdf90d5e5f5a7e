#include "lab/train/private_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "lab/nn/network.hpp"
#include "lab/nn/state_dict.hpp"
#include "lab/study/layer_metrics.hpp"
#include "lab/study/study_data.hpp"
#include "lab/study/training_guarantee.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/budget_booking.hpp"
#include "sfumato/account/large_delta.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/located.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/files_as_found.hpp"
#include "sfumato/data/npz.hpp"
#include "sfumato/random/release_bits.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato::lab {
namespace {

constexpr const char* kModel = "model.npz";
constexpr const char* kAccount = "accounting.toml";
constexpr const char* kStatement = "PRIVACY.md";

bool by_inputs(const PrivateNoise& noise) {
  return std::holds_alternative<InputMomentsMetric>(noise.metric);
}

/// Throws for options of the metric `input` that would be overlooked.
void require_input_options(const PrivateTrainQuestion& question, const PrivateNoise& noise) {
  const std::array<std::pair<const char*, bool>, 4> options = {
      {{"metric_share", question.metric_share.has_value()},
       {"metric_floor", question.metric_floor.has_value()},
       {"input_bound", question.input_bound.has_value()},
       {"metric_layers", question.metric_layers.has_value()}}};
  for (const auto& [key, given] : options) {
    if (!given || by_inputs(noise)) continue;
    throw InvalidArgument(fmt::format("means nothing for the metric {}", name(noise.metric)),
                          "Set metric = \"input\" in the study, or leave it out", Where::key(key));
  }
  if (question.metric_share && !question.target_epsilon) {
    throw InvalidArgument("divides the budget of `target_epsilon`, which is not given",
                          "Give `target_epsilon`, or metric_mu in the study instead",
                          Where::key("metric_share"));
  }
}

/// Gradients are clipped and noise is added in single precision: the guarantee needs clips and noise that it can hold with all of its digits.
void require_single_precision(const PrivateNoise& noise, const Where& where) {
  const auto require = [&](const char* key, double value, double least, double most,
                           const char* remedy) {
    if (value == 0.0 || (value >= least && value <= most)) return;  // 0: not given
    throw InvalidArgument(fmt::format("`{}` = {} is not from {:g} to {:g}, where single precision "
                                      "keeps its digits",
                                      key, value, least, most),
                          remedy, where);
  };
  const char* rescale = "Change the learning rate instead, or the scale of the loss";
  require("clip", noise.clip, 1e-12, 1e12, rescale);
  if (const auto* layers = std::get_if<PerLayerMetric>(&noise.metric)) {
    for (const double clip : layers->clips) require("layer_clips", clip, 1e-12, 1e12, rescale);
  }
  require("noise_multiplier", noise.noise_multiplier, 1e-6, 1e9,
          "Give the deviation of the noise over the clip, such as 1");
}

Study read_private_study(const PrivateTrainQuestion& question) {
  Study study = read_study(question.study, question.settings);
  if (study.noise.size() != 1 || !study.noise.front().is_private()) {
    throw InvalidArgument(
        "a model is released with one noise policy, which is private",
        "Give one [[noise]] with policy = \"private\", or train.clip and no [[noise]]",
        Where::in(question.study));
  }
  PrivateNoise& noise = study.noise.front().private_noise();
  auto* input = std::get_if<InputMomentsMetric>(&noise.metric);
  const Where where = study.noise.front().where;
  if (!question.target_epsilon && noise.noise_multiplier == 0.0) {
    throw InvalidArgument("nothing says how much noise to add",
                          "Give `target_epsilon`, or noise_multiplier in the study", where);
  }
  if (question.target_epsilon && noise.noise_multiplier != 0.0) {
    throw InvalidArgument("both `target_epsilon` and noise_multiplier say how much noise to add",
                          "Leave noise_multiplier out of the study, or ask for no target", where);
  }
  if (question.target_epsilon && input != nullptr && input->mu != 0.0) {
    throw InvalidArgument("both `target_epsilon` and metric_mu say what second moments may cost",
                          "Leave metric_mu out: `metric_share` divides the budget", where);
  }
  require_input_options(question, noise);
  require_single_precision(noise, where);
  if (input != nullptr) {
    input->floor = question.metric_floor.value_or(input->floor);
    input->input_bound = question.input_bound.value_or(input->input_bound);
    input->layers = question.metric_layers.value_or(input->layers);
  }
  study.train.hardened = question.hardened;
  if (study.train.batches == BatchScheme::fixed_size && study.adjacency.kind == Adjacency::remove) {
    throw InvalidArgument(
        "batches of fixed size have no guarantee where a record is removed: the size of the table "
        "would change",
        "Set adjacency.kind = \"replace\", or train.sampler = \"poisson\"",
        Where::in(question.study));
  }
  // Nothing of the other world is computed, and nothing is logged: each would be a release.
  study.train.path_kl = study.train.gradient_differences = false;
  study.train.log_every = 0;
  return study;
}

/// mu of the one Gaussian release that would use up what is left of the target.
double whole_budget(const PrivateReleases& before, const PrivacyBudget& target) {
  const PrivateRelease once{GaussianNoise{1.0}};
  const double multiplier = least_noise(before, {once}, target);
  return (before.relation == NeighbouringRelation::replace_one ? 2.0 : 1.0) / multiplier;
}

/// Throws what the target lacks: what was released before may exceed it already.
void require_budget(const PrivateReleases& before, const PrivacyBudget& target,
                    const PrivateTrainQuestion& question) {
  if (before.list.empty()) return;
  const double spent = Accountant(before).guarantee(target.delta).epsilon().nats();
  // A model for the last thousandth of the budget would be noise alone.
  if (meets(before, target) && spent < 0.999 * target.epsilon.nats()) return;
  throw InvalidArgument(
      fmt::format("the budget is spent: what was released before has epsilon {} at delta {}, the "
                  "least that can be reached, and `target_epsilon` is {}",
                  format_number(spent, Rounding::up, 4), target.delta.probability(),
                  target.epsilon.nats()),
      "Give a larger `target_epsilon`, which is for all releases together",
      Where::in(question.after));
}

/// The same with the most noise that is looked for.
void require_reach(PrivateReleases all, PrivateRelease steps, const PrivacyBudget& target) {
  constexpr double kMost = 1e9;
  std::get<GaussianNoise>(steps.mechanism).noise_multiplier = kMost;
  all.list.push_back(steps);
  if (meets(all, target)) return;
  const double least = Accountant(all).guarantee(target.delta).epsilon().nats();
  throw InvalidArgument(
      fmt::format("{} at delta {} is out of reach: with noise a billion times the "
                  "clip epsilon is still {}",
                  target.epsilon.nats(), target.delta.probability(),
                  format_number(least, Rounding::up, 4)),
      "Ask for a larger epsilon, or train fewer steps", Where::key("target_epsilon"));
}

struct PrivateMechanism {
  NoisePolicy policy;
  Accountant accountant;
};

/// The policy with its multiplier, and everything that will be released.
PrivateMechanism mechanism_of(const PrivateTrainQuestion& question, Study study,
                              const Network& network, std::size_t records) {
  const NeighbouringRelation relation = relation_of(study.adjacency.kind);
  PrivateNoise& noise = study.noise.front().private_noise();
  auto* input = std::get_if<InputMomentsMetric>(&noise.metric);
  PrivateReleases before{relation};
  SpentBefore spent = spent_before(question.after, relation);
  before.list = std::move(spent.releases);
  add_conditions(before, spent.rests_on);
  if (question.target_epsilon) {
    const PrivacyBudget target{Epsilon(*question.target_epsilon), Delta(question.target_delta)};
    require_budget(before, target, question);
    noise.noise_multiplier = 1.0;
    if (input != nullptr) {
      input->mu =
          std::sqrt(question.metric_share.value_or(kMetricShare)) * whole_budget(before, target);
      before.list.push_back(release_of_moments(input->mu, relation));
    }
    const PrivateRelease steps =
        release_of_training(policies_of(study, network).front(), network, study.train, records);
    require_accountable(steps, relation, 1);
    require_reach(before, steps, target);
    // A little more, for the rounding between the multiplier here and what it comes to in the policy.
    noise.noise_multiplier = least_noise(before, {steps}, target) * (1.0 + 1e-12);
    if (noise.noise_multiplier == 0.0) {
      throw InvalidArgument("the target is met without any noise, so that it means little",
                            "Ask for a smaller delta: below one over the number of records",
                            Where::key("target_delta"));
    }
  } else if (input != nullptr && input->mu > 0.0) {
    before.list.push_back(release_of_moments(input->mu, relation));
  }
  const auto composed = [&] {
    PrivateMechanism found{policies_of(study, network).front(), Accountant(relation)};
    for (const PrivateRelease& release : before.list) found.accountant.compose(release);
    for (const std::string& condition : before.rests_on) found.accountant.require(condition);
    const PrivateRelease steps = release_of_training(found.policy, network, study.train, records);
    require_accountable(steps, relation, 1);
    found.accountant.compose(steps);
    return found;
  };
  PrivateMechanism found = composed();
  // The multiplier was found by delta at the target. Epsilon at delta is enclosed by itself, and can lie above the target by its own rounding: a
  // little more noise, and what is printed is what was asked for.
  const double least = noise.noise_multiplier;
  for (double more = 1e-11; question.target_epsilon && more < 1e-6; more *= 10.0) {
    const double epsilon = found.accountant.epsilon(Delta(question.target_delta)).upper.value;
    if (epsilon <= *question.target_epsilon) break;
    noise.noise_multiplier = least * (1.0 + more);
    found = composed();
  }
  return found;
}

Guarantee guarantee_of(const Accountant& accountant, const PrivateTrainQuestion& question,
                       const Study& study) {
  const Delta delta(question.target_delta);
  const double epsilon = accountant.epsilon(delta).upper.value;
  if (!std::isfinite(epsilon) && !question.target_epsilon) {
    const NoiseSpec& noise = study.noise.front();
    throw InvalidArgument(
        fmt::format(
            "`noise_multiplier` = {} is too little: no finite epsilon is proven at delta = {}",
            noise.private_noise().noise_multiplier, question.target_delta),
        "Add more noise", noise.where);
  }
  return accountant.guarantee(delta);
}

/// What is there under the name of the statement gives way to it only if it is the older model's, `force` or not: nobody named this file.
void require_own_statement(const std::string& statement, const std::string& model,
                           const PrivateTrainQuestion& question) {
  std::error_code ignored;
  if (!std::filesystem::exists(statement, ignored)) return;
  if (question.seed) {
    throw StorageError("a statement is there, and would stand beside a model that it is not about",
                       "Write somewhere else", Where::in(statement));
  }
  if (question.force && !is_older_statement(statement, model)) {
    throw StorageError("is there, and is no statement about the model that is replaced",
                       "Choose another directory (`out`), or move it away", Where::in(statement));
  }
}

/// Makes the directory and looks, before anything is spent, at all that will be written there.
FilesAsFound prepare_out(const PrivateTrainQuestion& question, const Study& study) {
  if (question.out.empty()) return FilesAsFound({});
  const std::filesystem::path directory(question.out);
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    throw StorageError(fmt::format("cannot make the directory: {}", failed.message()),
                       "Choose another `out`", Where::in(question.out));
  }
  const std::string model = (directory / kModel).string(),
                    account = (directory / kAccount).string(),
                    statement = (directory / kStatement).string();
  FilesAsFound found({model, account, statement});
  std::vector<std::string> inputs = input_files(study);
  inputs.push_back(question.budget);
  std::vector<PlannedFile> files = {{"out", model, true}};
  if (!question.seed) {
    files.push_back({"out", account, true});
    files.push_back({"out", statement});
  }
  prepare_outputs(inputs, files, question.force);
  require_account_kept(
      {model, account, !question.seed, question.after, question.budget, statement});
  require_own_statement(statement, model, question);
  return found;
}

/// Throws for what a booking would have to guess.
void require_bookable(const PrivateTrainQuestion& question) {
  if (question.budget.empty()) {
    if (question.limit.empty()) return;
    throw InvalidArgument("limits a budget, and there is none", "Give `budget`, a file",
                          Where::key("limit"));
  }
  if (!question.after.empty() || question.seed) {
    throw InvalidArgument(
        question.seed ? "a run with a seed has no guarantee, hence no cost that could be booked"
                      : "a budget counts what was booked in it, and `after` counts a file: one "
                        "release could count twice",
        "Give one of them", Where::key("budget"));
  }
}

std::string model_bytes(const PrivateTrainAnswer& answer) {
  NpzWriter writer;
  for (const NamedTensor& tensor : state_dict(answer.network, answer.parameters)) {
    writer.add(tensor.name, tensor.values, tensor.shape);
  }
  return writer.bytes(Compression::stored);
}

/// Account, model, statement, each on the disk before the next: whatever ends the program, no model stands without its account, and no statement
/// beside another model.
void publish(const PrivateTrainAnswer& answer, const std::string& model,
             const FilesAsFound& found) {
  const DirectoryLocks locks = found.still_so();
  const std::filesystem::path directory(answer.question.out);
  const std::string path = (directory / kModel).string();
  const WriteRules rules{answer.question.force};
  if (answer.secret) {
    // What the next release about these records continues from (`after`).
    SavedAccount account{answer.accountant, answer.models_before};
    account.models.push_back(sha256(model));
    write_file((directory / kAccount).string(), save(account, Delta(answer.question.target_delta)),
               rules);
    withdraw_statement((directory / kStatement).string());
  }
  write_file(path, model, rules);
  if (answer.secret) {
    write_file((directory / kStatement).string(),
               statement_of(answer) + statement_of_model(path, model), rules);
  }
}

std::vector<InputMetricRelease> releases_of(const Network& network,
                                            const InputMomentsMetric& metric,
                                            const LayerMetrics& metrics) {
  const std::vector<double> mus = moment_mus(metric, network);
  std::vector<InputMetricRelease> releases;
  for (std::size_t b = 0; b < metrics.size(); ++b) {
    const ParameterBlock& block = network.blocks()[b];
    releases.push_back({network.layers()[block.layer].name, block.inputs, mus[b],
                        metrics[b].noise_std, metrics[b].ridge, metrics[b].effective_dimension});
  }
  return releases;
}

/// What would be read off the private table and decides about the network: a record of its own level or class would show in the shape of the model,
/// whatever the noise.
void require_classes(const DataSpec& data) {
  if (!data.is_table() || data.classes != 0) return;
  throw InvalidArgument("the number of classes would be read off the private records",
                        "Declare it: data.classes", data.where);
}
void require_numbers(const DataSpec& data, const LabelledSet& set) {
  if (!data.is_table()) return;
  for (const ColumnCoding& coding : set.codings) {
    if (coding.kind != ColumnKind::category) continue;
    throw InvalidArgument(
        fmt::format(
            "the column \"{}\" is text, and its levels would be read off the private records",
            coding.column),
        "Code it as columns of 0 and 1, by levels known beforehand; \"sfumato fit\" takes declared "
        "levels",
        Where::in(data.set));
  }
}

PrivateTrainAnswer trained(const PrivateTrainQuestion& question, Observer& observer) {
  Study study = read_private_study(question);
  require_classes(study.data);
  require_bookable(question);
  const FilesAsFound found = prepare_out(question, study);
  StudySets sets = load_sets(study);
  require_numbers(study.data, sets.train);
  const Network network = network_of(study.model, sets.train);
  const std::size_t records = study.data.records == 0 ? sets.train.count() : study.data.records;
  require_small_delta(question.target_delta, records, question.allow_large_delta);
  const Slots slots = random_slots(sets.train, records, study.data.seed);
  const PrivateMechanism mechanism = mechanism_of(question, study, network, records);

  PrivateTrainAnswer answer{question,
                            study,
                            network,
                            mechanism.policy,
                            question.target_epsilon.has_value(),
                            records,
                            mechanism.accountant,
                            guarantee_of(mechanism.accountant, question, study)};
  const auto key = std::make_shared<const ReleaseKey>(
      question.seed ? ReleaseKey::from_seed(*question.seed) : ReleaseKey::from_system());
  answer.secret = key->secret();
  study.train.key = key;
  // A seed is for everything that is drawn while training: initial weights too. Without one they are public, those of train.seed.
  if (question.seed) study.train.seed = static_cast<std::uint64_t>(*question.seed);

  answer.delta_warning = large_delta_warning(question.target_delta, records);
  answer.models_before = spent_before(question.after, relation_of(study.adjacency.kind)).models;
  // Nothing is refused from here on, and noise is drawn.
  std::optional<BudgetBooking> booking;
  if (!question.budget.empty()) {
    booking.emplace(question.budget, question.limit, answer.accountant,
                    BookedRun{"train --private", records, question.allow_large_delta});
    answer.booked = budget_text(booking->state());
  }
  LayerMetrics metrics;
  ReleaseBits bits(*key, kMomentStream);
  const auto* input = mechanism.policy.metric<InputMomentsMetric>();
  const ReleaseNoise noise{relation_of(study.adjacency.kind),
                           question.hardened ? NoiseMode::grid : NoiseMode::gaussian, bits};
  if (input != nullptr) {
    metrics.push_back(
        release_input_metric(network, {sets.train, slots, World{}}, *input, noise, observer));
    sets.train = whitened(network, sets.train, metrics.front(), {}, observer);
    if (sets.test) sets.test = whitened(network, *sets.test, metrics.front(), {}, observer);
  }
  const auto data = std::make_shared<const TrainingData>(sets.train, slots, std::vector{World{}});
  sets.train.values = {};  // training has its own, and features of all patches are large
  if (input != nullptr) {
    release_deeper_metrics(
        network, initial_parameters(network, study.train.init_seed.value_or(study.train.seed)),
        *data, *input, noise, observer, metrics);
    answer.input_metrics = releases_of(network, *input, metrics);
  }

  TrialGroup group(input != nullptr ? whitened_network(network, metrics) : network, data,
                   {mechanism.policy}, study.train, Where::in(question.study));
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
  if (input != nullptr)
    answer.parameters = unwhitened(network, std::move(answer.parameters), metrics);
  if (sets.test && !answer.diverged) {
    const std::size_t wanted = study.data.test_records;
    std::vector<std::uint32_t> tested(wanted == 0 ? sets.test->count()
                                                  : std::min(wanted, sets.test->count()));
    std::iota(tested.begin(), tested.end(), 0U);
    answer.test = summarise(group, RecordStore(*sets.test, tested),
                            std::span(sets.test->labels).first(tested.size()))
                      .front();
  }
  const std::string model = question.out.empty() && !booking ? "" : model_bytes(answer);
  if (booking) booking->release(sha256(model));
  if (!question.out.empty()) {
    publish(answer, model, found);
    answer.model_sha256 = sha256(model);
  }
  return answer;
}

}  // namespace

PrivateTrainAnswer answer(const PrivateTrainQuestion& question, Observer& observer) {
  return located(Where::in(question.study), [&] { return trained(question, observer); });
}

}  // namespace sfumato::lab
