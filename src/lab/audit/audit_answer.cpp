#include "sfumato/lab/audit/audit_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/audit/audit_keys.hpp"
#include "lab/audit/checked_options.hpp"
#include "lab/audit/score_files.hpp"
#include "sfumato/audit/canary_audit.hpp"
#include "sfumato/audit/lira.hpp"
#include "sfumato/audit/score_smells.hpp"
#include "sfumato/audit/shadow_attacks.hpp"
#include "sfumato/core/number_check.hpp"
#include "sfumato/core/parallel.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;

constexpr double kConfidence = 0.95, kDelta = 1e-5, kEpsilon = 1.0;  // where nothing is given

AuditOptions options_of(const AuditQuestion& question, const ScoresAudit& found) {
  AuditOptions options = audit_options(question, kConfidence, Delta(found.deltas.front()));
  if (question.larger_means == LargerMeans::nonmember) {
    for (double& threshold : options.thresholds) threshold = -threshold;
  }
  return options;
}

void bound_models(ScoresAudit& found, const std::vector<ScoreSample>& samples,
                  const AuditQuestion& question, ClaimEvidence evidence) {
  found.bounds = audit_scores(samples, options_of(question, found));
  if (!question.claim) return;
  const bool reversed = std::any_of(samples.begin(), samples.end(), scores_reversed);
  found.claim = check_claim(*found.bounds, *question.claim, reversed, evidence);
}

void bound_one_run(ScoresAudit& found, const CanaryScores& canaries,
                   const AuditQuestion& question) {
  found.one_run = one_run_audit(
      canaries, {level_of(options_of(question, found)), question.guesses, question.seed});
  found.ties = canaries.ties == Ties::against_attacker && have_ties(canaries);
  if (!question.claim) return;
  found.claim = check_claim(*found.one_run, *question.claim, scores_reversed(by_coin(canaries)));
}

ScoresAudit audit_files(const AuditQuestion& question, ScoresAudit found, Observer& observer) {
  std::vector<ScoreSample> samples = read_samples(question);
  throw_if_stopped(observer);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (const auto repeats = repeated_scores(samples[i])) found.repeats.push_back({i, *repeats});
  }
  throw_if_stopped(observer);
  found.source =
      ScoreFiles{samples.front().with.size(), samples.front().without.size(), samples.size()};
  if (question.pool && samples.size() > 1) samples = {pooled(samples)};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    found.attacks.push_back(
        {samples.size() == 1 ? "given" : fmt::format("column {}", i + 1), samples[i]});
  }
  if (question.unit == ScoreUnit::models) {
    bound_models(found, samples, question, ClaimEvidence::models);
  } else if (question.randomised) {
    if (samples.size() > 1) {
      throw InvalidArgument("needs one column of scores", "", Where::key("randomised"));
    }
    const ScoreSample& sample = samples.front();
    CanaryScores canaries{sample.with, std::vector<std::uint8_t>(sample.with.size(), 1),
                          Ties::against_attacker};
    canaries.scores.insert(canaries.scores.end(), sample.without.begin(), sample.without.end());
    canaries.included.resize(canaries.scores.size(), 0);
    bound_one_run(found, canaries, question);
  }
  return found;
}

ScoresAudit audit_layout(const AuditQuestion& question, ScoresAudit found, Observer& observer) {
  const ShadowScores shadows = read_shadows(question);
  throw_if_stopped(observer);
  const Index models = shadows.logits.rows(), records = shadows.logits.cols();
  found.source = ShadowLayout{static_cast<std::size_t>(models), static_cast<std::size_t>(records)};
  if (question.unit == ScoreUnit::models) {
    bound_models(found, {shadow_sample(shadows, question.seed)}, question,
                 ClaimEvidence::shadow_models);
  } else if (question.randomised) {
    if (question.model < 1 || question.model > static_cast<std::uint64_t>(models)) {
      throw InvalidArgument(fmt::format("is not among the models 1 to {}", models), "",
                            Where::key("model"));
    }
    const auto target = static_cast<Index>(question.model - 1);
    const Eigen::RowVectorXd row = lira_scores(shadows, LiraOptions{}).row(target);
    CanaryScores canaries{{row.begin(), row.end()}, {}, Ties::at_random};
    for (Index r = 0; r < records; ++r) canaries.included.push_back(shadows.member(target, r));
    bound_one_run(found, canaries, question);
  }
  throw_if_stopped(observer);
  found.attacks = shadow_attacks(shadows);
  return found;
}

AuditAnswer of_scores(const AuditQuestion& question, Observer& observer) {
  ScoresAudit found;
  found.deltas = question.deltas.empty() ? std::vector{kDelta} : without_repeats(question.deltas);
  found.epsilons =
      question.epsilons.empty() ? std::vector{kEpsilon} : without_repeats(question.epsilons);
  found.confidence = question.confidence.value_or(kConfidence);
  found = question.logits.empty() ? audit_files(question, std::move(found), observer)
                                  : audit_layout(question, std::move(found), observer);
  throw_if_stopped(observer);
  const Verdict verdict = found.claim ? found.claim->verdict() : Verdict::none;
  return {question, std::move(found), verdict};
}

AuditAnswer plan(const AuditQuestion& question) {
  const AuditOptions options = audit_options(question, kConfidence, question.plan->delta);
  AuditPlan found{plan_claim(*question.plan, {question.runs.value_or(0), 1}, options),
                  options.confidence};
  const Verdict verdict = question.runs && !found.claim.enough() ? Verdict::open : Verdict::none;
  return {question, std::move(found), verdict};
}

}  // namespace

AuditAnswer answer(const AuditQuestion& question, Observer& observer) {
  check(question);
  if (question.plan) return plan(question);
  if (question.ledger.empty()) return of_scores(question, observer);
  LedgerAudit found = audit(Ledger::read(question.ledger), question);
  const Verdict verdict = found.verdict;
  return {question, std::move(found), verdict};
}

}  // namespace sfumato::lab
