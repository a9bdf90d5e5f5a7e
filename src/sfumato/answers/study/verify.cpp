#include "sfumato/answers/study/verify.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "sfumato/core/error.hpp"
#include "sfumato/study/ledger_study.hpp"

namespace sfumato {
namespace {

constexpr std::size_t kMismatchesInBrief = 5;

/// A sample that nobody can foresee: who alters a ledger must not know which trials will be looked at.
std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Verdict verdict_of(const Retraining& result) {
  if (!result.mismatches.empty()) return Verdict::violated;
  if (result.stopped) return Verdict::open;
  return result.trials == result.held ? Verdict::holds : Verdict::not_refuted;
}

Table compared_table(const Retraining& result) {
  Table table("compared", "What was compared",
              {{"sample", "sample"},
               {"groups", "groups trained"},
               {"trials", "trials compared"},
               {"models", "models"},
               {"held", "trials in the ledger"},
               {"mismatches", "otherwise"}});
  table.add_row({static_cast<std::uint64_t>(result.sample.size()), result.groups, result.trials,
                 result.models, result.held, static_cast<std::uint64_t>(result.mismatches.size())});
  return table;
}

void add_mismatches(Document& document, const StudyVerifyAnswer& answer, std::size_t most) {
  const std::vector<TrialMismatch>& mismatches = answer.result.mismatches;
  if (mismatches.empty()) return;
  Table table("mismatches", "Trials that came out otherwise",
              {{"policy", "policy"},
               {"pair", "pair"},
               {"replica", "replica"},
               {"difference", "first difference"}});
  for (std::size_t i = 0; i < std::min(most, mismatches.size()); ++i) {
    const TrialMismatch& mismatch = mismatches[i];
    table.add_row({answer.study.noise.at(mismatch.key.policy).name, mismatch.key.pair,
                   mismatch.key.replica, mismatch.what});
  }
  document.add(std::move(table));
}

std::string verdict_text(const Retraining& result) {
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

Outcome outcome_of(Verdict verdict) {
  if (verdict == Verdict::violated) return Outcome::bad;
  return verdict == Verdict::open ? Outcome::open : Outcome::good;
}

/// What the sample may have missed.
void add_power(Document& document, const Retraining& result) {
  if (result.stopped || !result.mismatches.empty() || result.trials >= result.held) return;
  const double share = share_that_may_hide(result.sample.size(), result.held);
  document.state(
      StatementKind::info,
      fmt::format("The sample was drawn at random: had more than {:.1f} % of the trials been "
                  "wrong, one of them would have been in it with probability 0.95.",
                  std::ceil(1000.0 * share) / 10.0));
}

}  // namespace

StudyVerifyAnswer answer(const StudyVerifyQuestion& question, Observer& observer) {
  if (question.sample == 0) {
    throw InvalidArgument("a sample of 0 trials shows nothing", "Draw 1 or more",
                          Where::key("sample"));
  }
  const Ledger ledger = Ledger::read(question.ledger);
  const TrialRunner runner(study_of(ledger));
  require_comparable(runner, ledger, question.ledger);
  StudyVerifyAnswer answer{question,
                           runner.study(),
                           question.seed ? *question.seed : fresh_seed(),
                           {},
                           ledger.identity().instruction_set};
  answer.result = retrain(runner, ledger, question.sample, answer.seed, question.threads, observer);
  answer.another_instruction_set = answer.instruction_set != runner.identity().instruction_set;
  answer.verdict = verdict_of(answer.result);
  return answer;
}

Document document_of(const StudyVerifyAnswer& answer, Detail detail) {
  const Retraining& result = answer.result;
  const bool full = detail == Detail::full;
  Document document =
      new_document("study verify", answer.study.title.empty() ? "Study" : answer.study.title);
  const auto state_verdict = [&] {
    document.state(StatementKind::verdict, verdict_text(result), outcome_of(answer.verdict));
  };
  if (full) {
    document.add(compared_table(result));
  } else {
    state_verdict();
  }
  add_mismatches(document, answer, full ? result.mismatches.size() : kMismatchesInBrief);
  document.state(StatementKind::info,
                 "Compared bit by bit: seed, status, losses, accuracies, path KL, scores and "
                 "series of each model; not the seconds.");
  add_power(document, result);
  if (answer.another_instruction_set) {
    document.state(StatementKind::info,
                   fmt::format("The ledger was computed with {}; models of known distribution do "
                               "not depend on it.",
                               answer.instruction_set));
  }
  document.add_provenance("ledger", answer.question.ledger);
  document.add_provenance("seed of the sample", fmt::format("{}", answer.seed));
  document.add_result("trials_compared", result.trials);
  document.add_result("trials_that_differ", static_cast<std::uint64_t>(result.mismatches.size()));
  CheckedClaim claim;
  claim.claim = "the ledger was computed from its study";
  claim.outcome = answer.verdict;
  document.add_verdict(std::move(claim));
  if (full) state_verdict();
  return document;
}

}  // namespace sfumato
