#include <fmt/format.h>

#include <cmath>
#include <random>

#include "command.hpp"
#include "progress.hpp"
#include "sfumato/core/version.hpp"
#include "sfumato/study/scheduler/retrain.hpp"
#include "study/commands.hpp"

namespace sfumato::cli {
namespace {

/// A sample that nobody can foresee: who alters a ledger must not know which trials will be looked at.
std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

void add_mismatches(Document& document, const Study& study, const Retraining& result) {
  if (result.mismatches.empty()) return;
  Table table("mismatches", "Trials that came out otherwise",
              {{"policy", "policy"},
               {"pair", "pair"},
               {"replica", "replica"},
               {"difference", "first difference"}});
  for (const TrialMismatch& mismatch : result.mismatches) {
    table.add_row({study.noise.at(mismatch.key.policy).name, mismatch.key.pair,
                   mismatch.key.replica, mismatch.what});
  }
  document.add(std::move(table));
}

std::string verdict(const Retraining& result) {
  const std::string compared =
      fmt::format("{} of {} trials were trained again", result.trials, result.held);
  if (!result.mismatches.empty()) {
    return fmt::format(
        "NOT THE SAME: {}, and {} came out otherwise. They were not computed from "
        "this study by this program.",
        compared, result.mismatches.size());
  }
  if (result.stopped) return fmt::format("Stopped: {}, all with the same bits.", compared);
  return fmt::format("THE SAME: {}, all with the same bits.", compared);
}

}  // namespace

ExitCode verify_study(const StudyOptions& options) {
  ExitCode code = kFine;
  const Ledger ledger = Ledger::read(options.ledger);
  const TrialRunner runner(parse_study(ledger.identity().study, options.ledger));
  require_comparable(runner, ledger, std::string(kVersion), options.ledger);
  const std::uint64_t seed = options.seed ? *options.seed : fresh_seed();
  TerminalObserver observer;
  const Retraining result =
      retrain(runner, ledger, options.sample, seed, options.threads, observer);
  observer.finish();

  const Study& study = runner.study();
  Document document = new_document("study verify", study.title.empty() ? "Study" : study.title);
  Table table("compared", "What was compared",
              {{"sample", "sample"},
               {"groups", "groups trained"},
               {"trials", "trials compared"},
               {"models", "models"},
               {"held", "trials in the ledger"},
               {"mismatches", "otherwise"}});
  table.add_row({static_cast<std::uint64_t>(result.sample.size()), result.groups, result.trials,
                 result.models, result.held, static_cast<std::uint64_t>(result.mismatches.size())});
  document.add(std::move(table));
  add_mismatches(document, study, result);
  document.state(StatementKind::info,
                 "Compared bit by bit: seed, status, losses, accuracies, odometer, scores and "
                 "series of each model; not the seconds.");
  if (!result.stopped && result.mismatches.empty() && result.trials < result.held) {
    const double share = share_that_may_hide(result.sample.size(), result.held);
    document.state(
        StatementKind::info,
        fmt::format("The sample was drawn at random: had more than {:.1f} % of the trials been "
                    "wrong, one of them would have been in it with probability 0.95.",
                    std::ceil(1000.0 * share) / 10.0));
  }
  if (ledger.identity().instruction_set != runner.identity(std::string(kVersion)).instruction_set) {
    document.state(StatementKind::info,
                   fmt::format("The ledger was computed with {}; models of known law do not depend "
                               "on it.",
                               ledger.identity().instruction_set));
  }
  document.add_provenance("ledger", options.ledger);
  document.add_provenance("seed of the sample", fmt::format("{}", seed));
  document.state(StatementKind::verdict, verdict(result),
                 !result.mismatches.empty() ? Outcome::bad
                 : result.stopped           ? Outcome::open
                                            : Outcome::good);
  if (!result.mismatches.empty()) {
    code = kViolated;
  } else if (result.stopped) {
    code = kInterrupted;
  }
  print(document, options.json);
  return code;
}

}  // namespace sfumato::cli
