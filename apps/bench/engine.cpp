#include "bench/engine.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "lab/images/data_sets.hpp"
#include "lab/nn/kernel/matrix.hpp"
#include "lab/study/trial_runner.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::apps {

using namespace lab;
namespace {

/// The settings of the paper that the engine is measured on.
struct Setting {
  std::string_view name, words, set, network;
  std::size_t records, batch;
  double variance;  ///< of both of the paper's noise policies; 0: training without noise
  bool clipped =
      false;  ///< private policies instead: what clipping costs; measured only when asked for by name
};
constexpr Setting kSettings[] = {
    {"S1", "784-10-10, batch 100", "fashion-mnist", "mlp-10", 1'000, 100, 0.01},
    {"S2", "784-100-10, batch 100", "fashion-mnist", "mlp-100", 10'000, 100, 0.01},
    {"S3", "LeNet, batch 10", "cifar10", "lenet", 1'000, 10, 0.001},
    {"T1_500", "784-10-10, no noise, batch 500", "fashion-mnist", "mlp-10", 1'000, 500, 0.0},
    {"T1_1000", "784-10-10, no noise, full batch", "fashion-mnist", "mlp-10", 1'000, 1'000, 0.0},
    {"S1_private", "S1, clipped", "fashion-mnist", "mlp-10", 1'000, 100, 0.01, true},
    {"S2_private", "S2, clipped", "fashion-mnist", "mlp-100", 10'000, 100, 0.01, true},
    {"S3_private", "S3, clipped", "cifar10", "lenet", 1'000, 10, 0.001, true},
};

std::vector<const Setting*> chosen(const BenchEngineQuestion& question) {
  std::vector<const Setting*> settings;
  std::vector<std::string> known;
  for (const Setting& setting : kSettings) {
    known.emplace_back(setting.name);
    if (question.settings.empty() && !setting.clipped) settings.push_back(&setting);
  }
  for (const std::string& name : question.settings) {
    const Setting* found = nullptr;
    for (const Setting& setting : kSettings) {
      if (setting.name == name) found = &setting;
    }
    if (found == nullptr) {
      throw InvalidArgument(fmt::format("there is no setting \"{}\"", name),
                            suggestion(name, known, "settings"), Where::key("setting"));
    }
    settings.push_back(found);
  }
  return settings;
}

/// DP-SGD, and the same with a clip for each layer.
std::vector<NoisePolicy> private_policies(const Network& network) {
  PerLayerMetric by_layer;
  by_layer.clips.assign(network.blocks().size(), 0.5);
  return {{"private", PrivateNoise{1.0, 1.0, IsotropicMetric{}}},
          {"private, by layer", PrivateNoise{1.0, 1.0, by_layer}}};
}

EngineSpeed measure(const Setting& setting, const BenchEngineQuestion& question,
                    Observer& observer) {
  const LabelledSet set = load_data_set(setting.set, DataPart::train, setting.records);
  const Slots slots = random_slots(set, setting.records, 1);
  World other;
  other.changes.push_back({0, true, 0, 0});
  const auto data = std::make_shared<TrainingData>(set, slots, std::vector{World{}, other});
  std::vector<NoisePolicy> policies(setting.variance > 0.0 ? 2 : 1);
  policies[0].name = "none";
  if (setting.variance > 0.0) {
    policies[0] = {"isotropic per layer", PerLayerNoise{{setting.variance}}};
    policies[1] = {"anisotropic", AnisotropicNoise{{setting.variance}}};
  }
  const Network network = preset_network(setting.network);
  if (setting.clipped) policies = private_policies(network);
  const auto make = [&](std::uint64_t seed) {
    Training training;
    training.batch_size = setting.batch;
    training.seed = seed;
    return TrialGroup(network, data, policies, training);
  };
  return measure_speed(make, network.gradient_flops() * static_cast<double>(setting.batch),
                       question.threads, question.seconds, observer);
}

/// The group of a study that is trained together.
EngineSpeed measure(const Study& study, const BenchEngineQuestion& question, Observer& observer) {
  const TrialRunner runner(study);
  const NetworkTrials* trials = runner.network_trials();
  if (trials == nullptr) {
    throw InvalidArgument("the model of the study is not a network",
                          "Ask `sfumato study plan` how long it takes", Where::in(question.study));
  }
  const auto batch = static_cast<double>(study.train.batch_size);
  return measure_speed([&](std::uint64_t seed) { return trials->make_group(seed); },
                       trials->network().gradient_flops() * batch, question.threads,
                       question.seconds, observer);
}

const char* not_a_time_to_measure(double value) {
  return value >= 0.01 && value <= 3600.0 ? nullptr : "is not a time from 0.01 to 3600 seconds";
}

void require_sense(const BenchEngineQuestion& question) {
  if (!question.study.empty() && !question.settings.empty()) {
    throw InvalidArgument("a study and a setting are both given", "Measure one or the other",
                          Where::key("setting"));
  }
  if (question.study.empty() && !question.changes.empty()) {
    throw InvalidArgument("no study was given", "Name the study that they change",
                          Where::key("set"));
  }
  if (question.threads < 1 || question.threads > 4096) {
    throw InvalidArgument(
        fmt::format("{} is not a number of threads from 1 to 4096", question.threads), "",
        Where::key("threads"));
  }
  require_key("seconds", question.seconds, not_a_time_to_measure);
}

void measure_study(BenchEngineAnswer& answer, Observer& observer) {
  const BenchEngineQuestion& question = answer.question;
  const Study study = read_study(question.study, question.changes);
  const EngineSpeed speed = measure(study, question, observer);
  if (observer.stop_requested()) return;
  answer.settings.push_back(
      {std::filesystem::path(question.study).stem().string(), study.title, speed});
}

void measure_settings(BenchEngineAnswer& answer, Observer& observer) {
  const BenchEngineQuestion& question = answer.question;
  for (const Setting* setting : chosen(question)) {
    try {
      const EngineSpeed speed = measure(*setting, question, observer);
      if (observer.stop_requested()) return;
      answer.settings.push_back({std::string(setting->name), std::string(setting->words), speed});
    } catch (const InvalidArgument& error) {
      if (!question.settings.empty()) throw;
      answer.left_out.push_back(fmt::format("{} was left out: {}", setting->name, error.what()));
    }
  }
}

}  // namespace

const Keys<BenchEngineQuestion>& bench_engine_keys() {
  using namespace keys;
  using Q = BenchEngineQuestion;
  static const Keys<Q> all = {
      with(texts_key<Q>("setting", "list of names",
                        "S1, S2, S3, T1_500 or T1_1000 (default: all whose data are found)",
                        &Q::settings),
           {"settings"}),
      file_key<Q>("study", "time the models of this study file instead", &Q::study),
      integer_key<Q>("threads", "groups of models trained at once", &Q::threads, 1, 4096),
      number_key<Q>("seconds", "number in [0.01, 3600]", "seconds spent on each setting",
                    &Q::seconds, not_a_time_to_measure)};
  return all;
}

BenchEngineAnswer answer(const BenchEngineQuestion& question, Observer& observer) {
  require_sense(question);
  BenchEngineAnswer answer{question};
  answer.peak = multiply_add_peak();
  answer.normals_per_second = normals_per_second();
  answer.instruction_set = kernel::instruction_set();
  if (question.study.empty()) {
    measure_settings(answer, observer);
  } else {
    measure_study(answer, observer);
  }
  answer.stopped = observer.stop_requested();
  return answer;
}

}  // namespace sfumato::apps
