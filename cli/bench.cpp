#include <fmt/format.h>

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

void bench_engine(const BenchOptions& options) {
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
  for (const Setting* setting : chosen(options)) {
    EngineSpeed speed;
    try {
      speed = measure(*setting, options, progress);
    } catch (const InvalidArgument& error) {
      if (!options.settings.empty()) throw;
      document.state(StatementKind::warning,
                     fmt::format("{} was left out: {}", setting->name, error.what()));
      continue;
    }
    if (progress.stop_requested()) break;
    const double us = speed.seconds_per_model_step * 1e6;
    const double wall = speed.wall_seconds_per_model_step * 1e6;
    rows.push_back({{"setting", setting->name},
                    {"us_per_model_iteration", us},
                    {"roofline_fraction", speed.roofline_fraction},
                    {"threads", speed.threads},
                    {"wall_us_per_model_iteration", wall},
                    {"models", speed.models},
                    {"operations", speed.operations},
                    {"peak_gflops", peak * 1e-9},
                    {"normals_per_second", normals},
                    {"instruction_set", kernel::instruction_set()}});
    table.add_row({std::string(setting->name), std::string(setting->words), speed.models, us,
                   speed.roofline_fraction, wall});
  }
  progress.finish();
  if (options.json) {
    write_output(rows.dump(2) + "\n");
    return;
  }
  document.add(std::move(table));
  document.state(
      StatementKind::info,
      fmt::format("Peak of one core: {:.0f} GFLOP/s ({}); normals: {:.0f} million a "
                  "second; threads: {}. Operations are counted densely.",
                  peak * 1e-9, kernel::instruction_set(), normals * 1e-6, options.threads));
  print(document, false);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto* command = app.add_subcommand("bench", "Measures this machine and the engine on it");
  command->require_subcommand(1);
  auto* engine = command->add_subcommand(
      "engine", "Time of one training step of one model against this machine's peak");
  const auto options = std::make_shared<BenchOptions>();
  engine
      ->add_option("--setting", options->settings,
                   "S1, S2, S3, T1_500 or T1_1000, comma-separated (default: all)")
      ->delimiter(',');
  engine->add_option("--threads", options->threads, "Groups trained at once (default: 1)");
  engine->add_option("--seconds", options->seconds, "Time for each setting (default: 3)");
  engine->add_flag("--json", options->json, "Print an array of objects for programs");
  engine->footer(
      "Example:\n"
      "  sfumato bench engine --setting S1,S2 --threads 2\n"
      "Times are processor time, the best of nine rounds; the peak is measured in turn with them.");
  engine->callback([options] { bench_engine(*options); });
}

}  // namespace sfumato::cli
