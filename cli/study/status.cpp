#include "study/status.hpp"

#include <fmt/format.h>

#include <map>

#include "command.hpp"
#include "progress.hpp"
#include "study/commands.hpp"

namespace sfumato::cli {
namespace {

constexpr std::size_t kBarWidth = 20;

struct Failure {
  TrialKey first;
  std::uint64_t trials = 0;
};

void add_failures(Document& document, const Study& study,
                  const std::map<std::string, Failure>& failures) {
  if (failures.empty()) return;
  Table table("failures", "Trials that failed",
              {{"trials", "trials"},
               {"policy", "first: policy"},
               {"pair", "pair"},
               {"replica", "replica"},
               {"message", "message"}});
  for (const auto& [message, failure] : failures) {
    table.add_row({failure.trials, study.noise.at(failure.first.policy).name, failure.first.pair,
                   failure.first.replica, message});
  }
  document.add(std::move(table));
}

}  // namespace

double add_progress(Document& document, const Study& study, const Ledger& ledger) {
  struct Row {
    std::uint64_t done = 0, diverged = 0, failed = 0;
    double seconds = 0.0;
  };
  std::vector<Row> rows(study.noise.size());
  std::map<std::string, Failure> failures;
  double seconds = 0.0;
  std::uint64_t done = 0;
  ledger.for_each([&](const TrialResult& trial) {
    Row& row = rows.at(trial.key.policy);
    ++row.done;
    row.seconds += trial.seconds;
    seconds += trial.seconds;
    ++done;
    row.diverged += trial.status == TrialStatus::diverged ? 1 : 0;
    if (trial.status != TrialStatus::failed) return;
    ++row.failed;
    const auto [failure, is_new] = failures.try_emplace(trial.message, Failure{trial.key, 0});
    ++failure->second.trials;
  });
  Table table("policies", "Trials by noise policy",
              {{"policy", "policy"},
               {"done", "done"},
               {"of", "of"},
               {"diverged", "diverged"},
               {"failed", "failed"},
               {"seconds", "seconds each"}});
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const Row& row = rows[p];
    const Cell each =
        row.done == 0 ? Cell(Empty{}) : Cell(row.seconds / static_cast<double>(row.done));
    table.add_row({study.noise[p].name, row.done, study.audit.pairs * study.audit.replicas,
                   row.diverged, row.failed, each});
  }
  document.add(std::move(table));
  add_failures(document, study, failures);
  return done == 0 ? 0.0 : seconds / static_cast<double>(done);
}

ExitCode show_study_status(const StudyOptions& options) {
  const bool growing = Ledger::is_growing(options.ledger);
  const Ledger ledger = Ledger::read(options.ledger);
  const Study study = parse_study(ledger.identity().study, options.ledger);
  Document document = new_document("study status", study.title.empty() ? "Study" : study.title);
  const double each = add_progress(document, study, ledger);
  document.add_provenance("instruction set", ledger.identity().instruction_set);
  for (const auto& [name, digest] : ledger.identity().checksums) {
    document.add_provenance("data " + name, digest);
  }
  std::uint64_t done = 0;
  for (const auto& [kind, count] : ledger.counts()) done += count;
  const std::uint64_t all =
      std::uint64_t{study.audit.pairs} * study.audit.replicas * study.noise.size();
  if (done < all) {
    const unsigned workers = std::max(1U, ledger.workers());
    std::string text = growing ? "A run is adding to the ledger" : "No run is adding to the ledger";
    if (each > 0.0) {
      // What is left, spread evenly over the workers of the last run.
      const double left = static_cast<double>(all - done) * each / workers;
      text += fmt::format("; the rest takes about {} (ETA {}) on {} at once", clock_text(left),
                          growing ? "from now" : "once it goes on",
                          workers == 1 ? "one group" : fmt::format("{} groups", workers));
    }
    document.state(StatementKind::info, text + ".");
  }
  const auto share = static_cast<std::size_t>(kBarWidth * done / all);
  document.state(StatementKind::summary,
                 fmt::format("[{}{}] {} of {} trials are finished.", std::string(share, '#'),
                             std::string(kBarWidth - share, '.'), done, all));
  print(document, options.json);
  return kFine;
}

}  // namespace sfumato::cli
