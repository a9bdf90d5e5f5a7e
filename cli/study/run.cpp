#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/core/version.hpp"
#include "sfumato/study/scheduler/mpi_job.hpp"
#include "sfumato/study/scheduler/run_study.hpp"
#include "sfumato/study/seed_notice.hpp"
#include "study/commands.hpp"
#include "study/status.hpp"

namespace sfumato::cli {

namespace {

/// mpirun counts processes: one thread each unless told otherwise.
unsigned threads_of_rank(const StudyOptions& options) {
  return options.threads == 0 ? 1 : options.threads;
}

/// Whatever ends the run, rank 0 says it: the others print nothing.
ExitCode run_alone_or_lead(const StudyOptions& options, const std::string& path, MpiJob* job) {
  ExitCode code = kFine;
  const TrialRunner runner(read_study(options.file, options.settings));
  Ledger ledger = Ledger::open(path, runner.identity(std::string(kVersion)), study_differences);
  TerminalObserver observer;
  const RunReport report = job == nullptr ? run_study(runner, ledger, options.threads, observer)
                                          : job->lead(runner, ledger, threads_of_rank(options),
                                                      std::string(kVersion), observer);
  observer.finish();
  Document document = new_document(
      "study run", runner.study().title.empty() ? "Study " + options.file : runner.study().title);
  add_progress(document, runner.study(), ledger);
  document.state(StatementKind::warning, seed_notice(runner.study().train.seed));
  document.add_provenance("ledger", path);
  if (job != nullptr) document.add_provenance("ranks", fmt::format("{}", job->ranks()));
  if (report.stopped) {
    std::string command = job == nullptr ? "" : fmt::format("mpirun -n {} ", job->ranks());
    command += "sfumato study run " + options.file;
    for (const std::string& setting : options.settings) command += " --set '" + setting + "'";
    document.state(StatementKind::summary,
                   fmt::format("Stopped after {} of {} trials; the rest: {} --ledger {}",
                               report.before + report.finished, report.trials, command, path));
    code = kInterrupted;
  } else {
    document.state(StatementKind::summary,
                   fmt::format("{} trials in {} ({} new). Audit them: sfumato audit {}",
                               report.trials, path, report.finished, path));
  }
  print(document, options.json);
  return code;
}

}  // namespace

ExitCode run_study_command(const StudyOptions& options) {
  const std::string path = options.ledger.empty()
                               ? std::filesystem::path(options.file).stem().string() + ".ledger"
                               : options.ledger;
  if (!MpiJob::is_started()) {
    return run_alone_or_lead(options, path, nullptr);
  }
  MpiJob job;
  if (job.rank() == 0) {
    return run_alone_or_lead(options, path, &job);
  }
  TerminalObserver observer;
  job.serve(
      [&] { return std::make_unique<TrialRunner>(read_study(options.file, options.settings)); },
      threads_of_rank(options), std::string(kVersion), observer);
  return kFine;
}

}  // namespace sfumato::cli
