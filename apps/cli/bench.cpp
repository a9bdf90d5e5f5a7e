#include <CLI/CLI.hpp>
#include <memory>

#include "bench/engine.hpp"
#include "command.hpp"
#include "key_options.hpp"
#include "progress.hpp"

namespace sfumato::apps {
namespace {

struct BenchOptions {
  std::string file;  ///< a TOML file with the keys
  KeyOptions keys;
  std::vector<std::string> settings;  ///< of --set
  Output output;
};

ExitCode bench_engine(const BenchOptions& options) {
  const Output& output = options.output;
  BenchEngineQuestion question;
  read_keys(question, options.keys.table(options.file), bench_engine_keys());
  question.changes = options.settings;
  prepare_files({}, {}, output);
  TerminalObserver observer;
  const BenchEngineAnswer found = answer(question, observer);
  observer.finish();
  if (output.json) {
    write_page([&] { return document_of(found, Detail::full); }, output);
    write_output(engine_json(found));
  } else {
    show([&](Detail detail) { return document_of(found, detail); }, output);
  }
  return kFine;
}

}  // namespace

void add_bench(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("bench", "Measure this machine and the training engine on it");
  command->require_subcommand(1);
  command->footer("Example:\n  sfumato bench engine --setting S1,S2");
  auto* engine = command->add_subcommand(
      "engine", "Time a training step of one model against the peak of this machine");
  const auto options = std::make_shared<BenchOptions>();
  engine->add_option("FILE.toml", options->file, "The options as keys of a TOML file");
  add_settings(*engine, options->settings);
  options->keys.declare(*engine, infos_of(bench_engine_keys()));
  add_output_options(*engine, options->output);
  engine->footer(
      "Examples:\n"
      "  sfumato bench engine --setting S1,S2 --threads 2\n"
      "  sfumato bench engine --study studies/table2_s1.toml \\\n"
      "      --set train.batch_size=200\n"
      "Times are processor time, the best of nine rounds; the peak is measured in between.");
  commands.push_back({engine, [options] { return bench_engine(*options); }});
}

}  // namespace sfumato::apps
