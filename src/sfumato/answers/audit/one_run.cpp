#include "sfumato/answers/audit/one_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/answers/audit/document.hpp"
#include "sfumato/answers/audit/score_smells.hpp"

namespace sfumato {
namespace {

ScoreSample by_coin(const CanaryScores& canaries) {
  ScoreSample sample;
  for (std::size_t i = 0; i < canaries.scores.size(); ++i) {
    (canaries.included[i] != 0 ? sample.with : sample.without).push_back(canaries.scores[i]);
  }
  return sample;
}

bool have_ties(std::vector<double> scores) {
  std::sort(scores.begin(), scores.end());
  return std::adjacent_find(scores.begin(), scores.end()) != scores.end();
}

}  // namespace

OneRunAudit one_run_audit(const CanaryScores& canaries, const AuditCommand& command,
                          std::uint64_t seed, double confidence) {
  const std::vector<std::uint64_t> numbers =
      command.guesses ? std::vector{*command.guesses} : guess_numbers(canaries.scores.size());
  return {guess_canaries(canaries.scores, canaries.included, numbers, canaries.ties, seed),
          confidence};
}

void check_one_run(Document& document, const OneRunAudit& audit, const ClaimedGuarantee& claim,
                   bool reversed, Verdict& verdict) {
  ClaimCheck check{
      ClaimVerdict::not_refuted, audit.epsilon(claim.delta), audit.epsilon_cap(claim.delta), {}};
  if (check.found.value > claim.epsilon) {
    check.verdict = ClaimVerdict::violation;
  } else if (!(check.cap > claim.epsilon.nats())) {
    check.verdict = ClaimVerdict::not_enough_runs;
  }
  add_claim(document, check, claim,
            {reversed, RunsNeeded::models_per_world, "Use more canaries or guesses."}, verdict);
}

void bound_one_run(Document& document, const CanaryScores& canaries, const AuditCommand& command,
                   Verdict& verdict) {
  const double confidence = 1.0 - level_of(audit_options(command));
  const OneRunAudit audit = one_run_audit(canaries, command, command.seed, confidence);
  if (canaries.ties == Ties::against_attacker && have_ties(canaries.scores)) {
    document.state(StatementKind::info,
                   "Some canaries share their score. The two files give their coins away, so where "
                   "a tie decides a guess, it is taken to be wrong.");
  }
  add_one_run(document, audit, command.deltas);
  if (command.claim.empty()) return;
  check_one_run(document, audit, parse_claim(command.claim), scores_reversed(by_coin(canaries)),
                verdict);
}

}  // namespace sfumato
