#include "sfumato/lab/audit/audit_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lab/audit/audit_keys.hpp"
#include "sfumato/audit/canary_audit.hpp"
#include "sfumato/audit/score_sample.hpp"
#include "sfumato/audit/score_smells.hpp"
#include "sfumato/audit/shadow_attacks.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/parallel.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/lab/audit/audit_question.hpp"

namespace sfumato::lab {
namespace {

using Eigen::Index;

/// Scores that cannot tell anything, or were given twice by mistake.
void require_two_worlds(const ScoreSample& sample, const AuditQuestion& question, Index column,
                        Index columns) {
  const std::string which = columns > 1 ? fmt::format(" of column {}", column + 1) : "";
  const double first = sample.with.front();
  const auto same = [first](double score) { return score == first; };
  if (!std::all_of(sample.with.begin(), sample.with.end(), same) ||
      !std::all_of(sample.without.begin(), sample.without.end(), same)) {
    if (!same_scores(sample)) return;
    throw InvalidArgument(fmt::format("the scores{} are those of {}", which, question.nonmembers),
                          "Members and non-members need different files: check which were given",
                          Where::in(question.members));
  }
  throw InvalidArgument(
      fmt::format("all scores{}, of members and non-members, equal {}", which, first),
      "Constant scores carry no information: check how they were computed",
      Where::in(question.members));
}

/// One sample per column of the two files, larger scores meaning members.
/// Throws   InvalidArgument as read_array(), if the files differ in columns, if all scores of a
///          column are equal, or if members and non-members have the same scores.
std::vector<ScoreSample> read_samples(const AuditQuestion& question) {
  const Eigen::MatrixXd with = read_array(question.members).values;
  const Eigen::MatrixXd without = read_array(question.nonmembers).values;
  if (with.cols() != without.cols()) {
    throw InvalidArgument(fmt::format("has {} columns, and {} has {}", with.cols(),
                                      question.nonmembers, without.cols()),
                          "Give both files one column per pair of data sets or kind of score",
                          Where::in(question.members));
  }
  const double sign = question.larger_means == LargerMeans::member ? 1.0 : -1.0;
  std::vector<ScoreSample> samples;
  for (Index column = 0; column < with.cols(); ++column) {
    ScoreSample sample;
    for (const double score : with.col(column)) sample.with.push_back(sign * score);
    for (const double score : without.col(column)) sample.without.push_back(sign * score);
    require_two_worlds(sample, question, column, with.cols());
    samples.push_back(std::move(sample));
  }
  return samples;
}

/// The logits and who was trained on what, larger logits meaning members.
/// Throws   InvalidArgument as read_array() and require_shadows(), or if the mask is not made of 0 and 1.
ShadowScores read_shadows(const AuditQuestion& question) {
  const Eigen::MatrixXd logits = read_array(question.logits).values;
  const Eigen::MatrixXd mask = read_array(question.membership).values;
  if (logits.rows() != mask.rows() || logits.cols() != mask.cols()) {
    throw InvalidArgument(fmt::format("is {} x {}, and {} is {} x {}", mask.rows(), mask.cols(),
                                      question.logits, logits.rows(), logits.cols()),
                          "Give both files one row per model and one column per record",
                          Where::in(question.membership));
  }
  if (logits.rows() < 2) {
    throw InvalidArgument(fmt::format("has a single row: {} records of one model", logits.cols()),
                          "Give the shadow models, one row each, with one column per record",
                          Where::in(question.logits));
  }
  ShadowScores shadows{
      question.larger_means == LargerMeans::member ? logits : Eigen::MatrixXd(-logits),
      MembershipMask(mask.rows(), mask.cols())};
  for (Index record = 0; record < mask.cols(); ++record) {
    for (Index model = 0; model < mask.rows(); ++model) {
      const double entry = mask(model, record);
      if (entry != 0.0 && entry != 1.0) {
        throw InvalidArgument(
            fmt::format("row {}, column {} is {}", model + 1, record + 1, entry),
            "The membership mask is 1 where the model was trained on the record, else 0",
            Where::in(question.membership));
      }
      shadows.member(model, record) = entry == 1.0;
    }
  }
  require_shadows(shadows, Where::in(question.logits));
  if (logits.minCoeff() == logits.maxCoeff()) {
    throw InvalidArgument(fmt::format("all scores equal {}", logits(0, 0)),
                          "Constant scores carry no information: check how they were computed",
                          Where::in(question.logits));
  }
  if (shadows.member.minCoeff() == shadows.member.maxCoeff()) {
    throw InvalidArgument("is the same everywhere", "An attack needs members and non-members",
                          Where::in(question.membership));
  }
  return shadows;
}

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
