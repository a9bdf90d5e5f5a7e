#include "lab/study/verify_ledger.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "lab/study/ledger_study.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

constexpr std::size_t kMismatchesInBrief = 5;

/// A sample that nobody can foresee: who alters a ledger must not know which trials will be looked at.
std::uint64_t fresh_seed() {
  std::random_device device;
  const std::uint64_t bits = std::uint64_t{device()} << 32 | device();
  return bits >> 11;  // 53 bits: a double, JSON and TOML hold it
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
  Table table("mismatches", "Trials that differ",
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

Text verdict_text(const Retraining& result) {
  const Text compared = say("{} of {} trials were trained again", result.trials, result.held);
  if (!result.mismatches.empty()) {
    return say("{}: {}, and {} differ. They were not computed from this study by this program.",
               VerdictWord{"DIFFERENT"}, compared, result.mismatches.size());
  }
  return say("{}: {}, all bit for bit the same.",
             VerdictWord{result.stopped ? "STOPPED" : "IDENTICAL"}, compared);
}

Outcome outcome_of(Verdict verdict) {
  if (verdict == Verdict::violated) return Outcome::bad;
  return verdict == Verdict::open ? Outcome::open : Outcome::good;
}

/// What the sample may have missed.
void add_power(Document& document, const Retraining& result) {
  if (result.stopped || !result.mismatches.empty() || result.trials >= result.held) return;
  const double share = share_that_may_hide(result.sample.size(), result.held);
  document.state(StatementKind::info,
                 say("The sample is random: if more than {} of the trials were wrong, it would "
                     "have caught one "
                     "with probability 0.95.",
                     Percent{fmt::format("{:.1f}", std::ceil(1000.0 * share) / 10.0)}));
}

}  // namespace

const Keys<StudyVerifyQuestion>& study_verify_keys() {
  using namespace keys;
  using Q = StudyVerifyQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("ledger", "ledger written by `study run`", &Q::ledger)),
      integer_key<Q>("sample", "trials to draw at random", &Q::sample, 1),
      integer_key<Q>(
          "seed", "seed of the sample, to draw the same one again (default: a new one each time)",
          &Q::seed, 0),
      integer_key<Q>("threads", "groups of models trained at once; 0: all cores", &Q::threads, 0,
                     4096)};
  return all;
}

StudyVerifyAnswer answer(const StudyVerifyQuestion& question, Observer& observer) {
  if (question.sample == 0) {
    throw InvalidArgument("a sample of 0 trials is empty", "Draw 1 or more", Where::key("sample"));
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
                 "Compared bit for bit: seed, status, losses, accuracies, path KL, scores and "
                 "series of each model, but not timings.");
  add_power(document, result);
  if (answer.another_instruction_set) {
    document.state(StatementKind::info,
                   say("The ledger was computed with {}; models with known distributions "
                       "do not depend on it.",
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

}  // namespace sfumato::lab
