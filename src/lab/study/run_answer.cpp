#include "sfumato/lab/study/run_answer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "lab/study/ledger_study.hpp"
#include "lab/study/scheduler/mpi_job.hpp"
#include "lab/study/scheduler/run_study.hpp"
#include "lab/study/study_keys.hpp"
#include "lab/study/study_progress.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

/// mpirun counts processes: one thread each unless told otherwise.
unsigned threads_of_rank(const StudyRunQuestion& question) {
  return question.threads == 0 ? 1 : question.threads;
}

/// Alone, or as rank 0 of a job.
StudyRunAnswer run_or_lead(const StudyRunQuestion& question, std::shared_ptr<MpiJob> job,
                           Observer& observer) {
  StudyRunAnswer answer;
  answer.question = question;
  answer.ledger = question.ledger.empty()
                      ? std::filesystem::path(question.study).stem().string() + ".ledger"
                      : question.ledger;
  const TrialRunner runner(read_study(question.study, question.settings));
  answer.title = runner.study().title;
  answer.seed = runner.study().train.seed;
  Ledger ledger = Ledger::open(answer.ledger, runner.identity(), study_differences);
  (void)study_of(ledger);  // throws if it holds trials of another
  if (job == nullptr) {
    answer.report = run_study(runner, ledger, question.threads, observer);
  } else {
    answer.ranks = job->ranks();
    answer.report = job->lead(runner, ledger, threads_of_rank(question), observer);
  }
  answer.progress = progress_of(runner.study(), ledger);
  answer.job = std::move(job);
  return answer;
}

/// The same command again: it goes on.
std::string command_line(const StudyRunAnswer& answer) {
  std::string line = answer.ranks == 0 ? "" : fmt::format("mpirun -n {} ", answer.ranks);
  line += "sfumato study run " + answer.question.study;
  for (const std::string& setting : answer.question.settings) line += " --set '" + setting + "'";
  return line + " --ledger " + answer.ledger;
}

}  // namespace

const Keys<StudyRunQuestion>& study_run_keys() {
  using namespace keys;
  using Q = StudyRunQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("study", "study file (TOML)", &Q::study)),
      file_key<Q>("ledger",
                  "SQLite file that keeps the trials (default: NAME.ledger for NAME.toml)",
                  &Q::ledger),
      integer_key<Q>("threads",
                     "groups of models trained at once; 0: all cores, or 1 per rank of mpirun",
                     &Q::threads, 0, 4096)};
  return all;
}

std::optional<StudyRunAnswer> answer(const StudyRunQuestion& question, Observer& observer) {
  if (!MpiJob::is_started()) return run_or_lead(question, nullptr, observer);
  const auto job = std::make_shared<MpiJob>();
  if (job->rank() == 0) return run_or_lead(question, job, observer);
  job->serve(
      [&] { return std::make_unique<TrialRunner>(read_study(question.study, question.settings)); },
      threads_of_rank(question), observer);
  return std::nullopt;
}

Document document_of(const StudyRunAnswer& answer, Detail detail) {
  Document document = new_document(
      "study run", answer.title.empty() ? "Study " + answer.question.study : answer.title);
  add_progress(document, answer.progress, detail);
  document.state(StatementKind::warning, seed_notice(answer.seed));
  document.add_provenance("ledger", answer.ledger);
  if (answer.ranks != 0) document.add_provenance("ranks", fmt::format("{}", answer.ranks));
  const RunReport& report = answer.report;
  if (report.stopped) {
    document.state(StatementKind::summary,
                   say("Stopped after {} of {} trials. To continue: {}",
                       report.before + report.finished, report.trials, command_line(answer)));
  } else {
    document.state(StatementKind::summary,
                   say("{} trials in {} ({} new). Audit them: sfumato audit {}", report.trials,
                       answer.ledger, report.finished, answer.ledger));
  }
  return document;
}

}  // namespace sfumato::lab
