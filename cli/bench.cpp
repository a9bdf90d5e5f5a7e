#include <memory>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/answers/bench/engine.hpp"

namespace sfumato::cli {
namespace {

ExitCode bench_engine(const BenchEngineQuestion& question, const Output& output) {
  TerminalObserver observer;
  const BenchEngineAnswer found = answer(question, observer);
  observer.finish();
  if (output.json) {
    write_output(engine_json(found));
  } else {
    print(document_of(found, Detail::full), false);
  }
  return kFine;
}

}  // namespace

void add_bench(CLI::App& app, Commands& commands) {
  auto* command = app.add_subcommand("bench", "Measures this machine and the engine on it");
  command->require_subcommand(1);
  auto* engine = command->add_subcommand(
      "engine", "Time of one training step of one model against this machine's peak");
  const auto question = std::make_shared<BenchEngineQuestion>();
  const auto output = std::make_shared<Output>();
  engine
      ->add_option("--setting", question->settings,
                   "S1, S2, S3, T1_500 or T1_1000, comma-separated (default: all)")
      ->delimiter(',');
  engine->add_option("--study", question->study, "A study file instead: the group it trains")
      ->type_name("FILE");
  engine->add_option("--set", question->changes, "Overrides a key of the study (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  engine->add_option("--threads", question->threads, "Groups trained at once (default: 1)");
  engine->add_option("--seconds", question->seconds, "Time for each setting (default: 3)");
  engine->add_flag("--json", output->json, "Print an array of objects for programs");
  engine->footer(
      "Example:\n"
      "  sfumato bench engine --setting S1,S2 --threads 2\n"
      "  sfumato bench engine --study studies/table2_s1.toml --set train.batch_size=200\n"
      "Times are processor time, the best of nine rounds; the peak is measured in turn with them.");
  commands.push_back({engine, [question, output] { return bench_engine(*question, *output); }});
}

}  // namespace sfumato::cli
