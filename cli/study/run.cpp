#include <fmt/format.h>

#include <filesystem>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/study/scheduler/run_study.hpp"
#include "study/commands.hpp"
#include "study/status.hpp"

namespace sfumato::cli {

void run_study_command(const StudyOptions& options, int& exit_code) {
  const std::string path = options.ledger.empty()
                               ? std::filesystem::path(options.file).stem().string() + ".ledger"
                               : options.ledger;
  const TrialRunner runner(read_study(options.file, options.settings));
  Ledger ledger = Ledger::open(path, runner.identity(SFUMATO_VERSION), study_differences);
  TerminalObserver observer;
  const RunReport report = run_study(runner, ledger, options.threads, observer);
  observer.finish();
  Document document = new_document(
      "study run", runner.study().title.empty() ? "Study " + options.file : runner.study().title);
  add_progress(document, runner.study(), ledger);
  document.add_provenance("ledger", path);
  if (report.stopped) {
    std::string command = "sfumato study run " + options.file;
    for (const std::string& setting : options.settings) command += " --set '" + setting + "'";
    document.state(StatementKind::summary,
                   fmt::format("Stopped after {} of {} trials; the rest: {} --ledger {}",
                               report.before + report.finished, report.trials, command, path));
    exit_code = kInterrupted;
  } else {
    document.state(StatementKind::summary,
                   fmt::format("{} trials in {} ({} new). Audit them: sfumato audit {}",
                               report.trials, path, report.finished, path));
  }
  print(document, options.json);
}

}  // namespace sfumato::cli
