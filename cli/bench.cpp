#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/data_sets.hpp"
#include "sfumato/nn/kernel/matrix.hpp"
#include "sfumato/nn/speed.hpp"
#include "sfumato/study/trial_runner.hpp"

namespace sfumato::cli {
namespace {

/// The settings of the paper that the engine is measured on.
struct Setting {
  std::string_view name, words, set, network;
  std::size_t records, batch;
  double variance;  ///< of both of the paper's noise policies; 0: training without noise
};
constexpr Setting kSettings[] = {
    {"S1", "784-10-10, batch 100", "fashion-mnist", "mlp-10", 1'000, 100, 0.01},
    {"S2", "784-100-10, batch 100", "fashion-mnist", "mlp-100", 10'000, 100, 0.01},
    {"S3", "LeNet, batch 10", "cifar10", "lenet", 1'000, 10, 0.001},
    {"T1_500", "784-10-10, no noise, batch 500", "fashion-mnist", "mlp-10", 1'000, 500, 0.0},
    {"T1_1000", "784-10-10, no noise, full batch", "fashion-mnist", "mlp-10", 1'000, 1'000, 0.0},
};

struct BenchOptions {
  std::vector<std::string> settings = {};
  std::string study;                 ///< a file; empty: the settings
  std::vector<std::string> changes;  ///< of its keys
  unsigned threads = 1;
  double seconds = 3.0;
  bool json = false;
};

std::vector<const Setting*> chosen(const BenchOptions& options) {
  std::vector<const Setting*> settings;
  std::vector<std::string> known;
  for (const Setting& setting : kSettings) {
    known.emplace_back(setting.name);
    if (options.settings.empty()) settings.push_back(&setting);
  }
  for (const std::string& name : options.settings) {
    const Setting* found = nullptr;
    for (const Setting& setting : kSettings) {
      if (setting.name == name) found = &setting;
    }
    if (found == nullptr) {
      throw InvalidArgument(fmt::format("no setting is called `{}`", name),
                            suggestion(name, known, "settings"), Where::in("--setting"));
    }
    settings.push_back(found);
  }
  return settings;
}

EngineSpeed measure(const Setting& setting, const BenchOptions& options, Observer& observer) {
  const LabelledSet set = load_data_set(setting.set, DataPart::train, setting.records);
  const Slots slots = random_slots(set, setting.records, 1);
  World other;
  other.changes.push_back({0, true, 0, 0});
  const auto data = std::make_shared<TrainingData>(set, slots, std::vector{World{}, other});
  std::vector<NoisePolicy> policies(setting.variance > 0.0 ? 2 : 1);
  policies[0].name = "none";
  if (setting.variance > 0.0) {
    policies[0] = {"isotropic per layer", NoiseKind::isotropic_per_layer, setting.variance};
    policies[1] = {"anisotropic", NoiseKind::anisotropic, setting.variance};
  }
  const Network network = preset_network(setting.network);
  const auto make = [&](std::uint64_t seed) {
    Training training;
    training.batch_size = setting.batch;
    training.seed = seed;
    return TrialGroup(network, data, policies, training);
  };
  return measure_speed(make, network.gradient_flops() * static_cast<double>(setting.batch),
                       options.threads, options.seconds, observer);
}

/// The group of a study that is trained together.
EngineSpeed measure(const Study& study, const BenchOptions& options, Observer& observer) {
  const TrialRunner runner(study);
  const NetworkTrials* trials = runner.network_trials();
  if (trials == nullptr) {
    throw InvalidArgument("the model of the study is no network",
                          "Ask `sfumato study plan` how long it takes", Where::in(options.study));
  }
  const auto batch = static_cast<double>(study.train.batch_size);
  return measure_speed([&](std::uint64_t seed) { return trials->make_group(seed); },
                       trials->network().gradient_flops() * batch, options.threads, options.seconds,
                       observer);
}

ExitCode bench_engine(const BenchOptions& options) {
  if (!options.study.empty() && !options.settings.empty()) {
    throw InvalidArgument("--study and --setting were both given", "Measure one or the other",
                          Where::in("bench"));
  }
  if (options.study.empty() && !options.changes.empty()) {
    throw InvalidArgument("--set without --study", "Name the study whose keys these are",
                          Where::in("bench"));
  }
  if (options.threads < 1 || options.threads > 4096) {
    throw InvalidArgument(fmt::format("--threads {}", options.threads),
                          "Use a number of threads from 1 to 4096", Where::in("bench"));
  }
  if (!(options.seconds >= 0.01 && options.seconds <= 3600.0)) {
    throw InvalidArgument(fmt::format("--seconds {}", options.seconds),
                          "Use a time from 0.01 to 3600 seconds", Where::in("bench"));
  }
  TerminalObserver progress;
  const double peak = multiply_add_peak(), normals = normals_per_second();
  nlohmann::json rows = nlohmann::json::array();
  Document document = new_document("bench engine", "Speed of the training engine on this machine");
  Table table("engine", "One step of one model, noise and D' included",
              {{"setting", "setting"},
               {"what", "what"},
               {"models", "models"},
               {"us", "us per core"},
               {"roofline", "of roofline"},
               {"wall", "us, all threads"}});
  const auto add_row = [&](std::string_view setting, std::string_view what,
                           const EngineSpeed& speed) {
    const double us = speed.seconds_per_model_step * 1e6;
    const double wall = speed.wall_seconds_per_model_step * 1e6;
    rows.push_back({{"setting", setting},
                    {"us_per_model_iteration", us},
                    {"roofline_fraction", speed.roofline_fraction},
                    {"threads", speed.threads},
                    {"wall_us_per_model_iteration", wall},
                    {"models", speed.models},
                    {"operations", speed.operations},
                    {"peak_gflops", peak * 1e-9},
                    {"normals_per_second", normals},
                    {"instruction_set", kernel::instruction_set()}});
    table.add_row(
        {std::string(setting), std::string(what), speed.models, us, speed.roofline_fraction, wall});
  };
  if (!options.study.empty()) {
    const Study study = read_study(options.study, options.changes);
    const EngineSpeed speed = measure(study, options, progress);
    if (!progress.stop_requested()) {
      add_row(std::filesystem::path(options.study).stem().string(), study.title, speed);
    }
  } else {
    for (const Setting* setting : chosen(options)) {
      try {
        const EngineSpeed speed = measure(*setting, options, progress);
        if (progress.stop_requested()) break;
        add_row(setting->name, setting->words, speed);
      } catch (const InvalidArgument& error) {
        if (!options.settings.empty()) throw;
        document.state(StatementKind::warning,
                       fmt::format("{} was left out: {}", setting->name, error.what()));
      }
    }
  }
  progress.finish();
  if (options.json) {
    write_output(rows.dump(2) + "\n");
    return kFine;
  }
  document.add(std::move(table));
  document.state(
      StatementKind::info,
      fmt::format("Peak of one core: {:.0f} GFLOP/s ({}); normals: {:.0f} million a "
                  "second; threads: {}. Operations are counted densely.",
                  peak * 1e-9, kernel::instruction_set(), normals * 1e-6, options.threads));
  print(document, false);
  return kFine;
}

}  // namespace

void add_bench(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("bench", "Measures this machine and the engine on it");
  command->require_subcommand(1);
  auto* engine = command->add_subcommand(
      "engine", "Time of one training step of one model against this machine's peak");
  const auto options = std::make_shared<BenchOptions>();
  engine
      ->add_option("--setting", options->settings,
                   "S1, S2, S3, T1_500 or T1_1000, comma-separated (default: all)")
      ->delimiter(',');
  engine->add_option("--study", options->study, "A study file instead: the group it trains")
      ->type_name("FILE");
  engine->add_option("--set", options->changes, "Overrides a key of the study (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  engine->add_option("--threads", options->threads, "Groups trained at once (default: 1)");
  engine->add_option("--seconds", options->seconds, "Time for each setting (default: 3)");
  engine->add_flag("--json", options->json, "Print an array of objects for programs");
  engine->footer(
      "Example:\n"
      "  sfumato bench engine --setting S1,S2 --threads 2\n"
      "  sfumato bench engine --study studies/table2_s1.toml --set train.batch_size=200\n"
      "Times are processor time, the best of nine rounds; the peak is measured in turn with them.");
  commands.push_back({engine, [options] { return bench_engine(*options); }});
}

}  // namespace sfumato::cli
