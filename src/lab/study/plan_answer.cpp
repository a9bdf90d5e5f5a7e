#include "lab/study/plan_answer.hpp"

#include <algorithm>
#include <thread>

#include "sfumato/audit/one_run.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/keys/makers.hpp"

namespace sfumato::lab {
namespace {

const char* not_a_time_to_measure(double value) {
  return value >= 0.01 && value <= 3600.0 ? nullptr : "is not a time from 0.01 to 3600 seconds";
}

void require_sense(const StudyPlanQuestion& question) {
  if (question.eps) require_key("eps", *question.eps, not_an_epsilon);
  if (question.delta) require_key("delta", *question.delta, not_a_delta);
  if (question.confidence) require_key("confidence", *question.confidence, not_a_confidence);
  require_key("seconds", question.seconds, not_a_time_to_measure);
  if (question.threads != 0 && question.ranks != 0) {
    throw InvalidArgument("plan for threads or for ranks, not both", "", Where::key("ranks"));
  }
}

/// What to plan for: the question, else the study's claims, else epsilon = 1.
std::vector<ClaimedGuarantee> claims_of(const StudyPlanQuestion& question, const AuditSpec& audit) {
  if (!question.eps && !question.delta && !audit.claims.empty()) return audit.claims;
  return {{Epsilon(question.eps.value_or(1.0)), Delta(question.delta.value_or(audit.delta))}};
}

AuditOptions options_of(const StudyPlanAnswer& answer, Delta delta) {
  AuditOptions options;
  options.confidence = answer.confidence;
  options.delta = delta;
  options.audits = answer.study.noise.size();
  return options;
}

void plan_coins(StudyPlanAnswer& answer) {
  const AuditSpec& audit = answer.study.audit;
  const AuditOptions options = options_of(answer, answer.delta);
  if (audit.canaries != 0) {
    const OneRunAudit perfect = maximum_one_run_audit(
        audit.canaries, 1.0 - level_of(options) / static_cast<double>(audit.replicas));
    answer.canaries = CoinPlan{audit.canaries, 0, perfect.maximum_epsilon(answer.delta)};
  }
  if (audit.shadow_models != 0) {
    // Half of the models fit the attack; of each of the others one record is guessed, half of them in.
    AuditSpec guessed = audit;
    const std::size_t targets = audit.shadow_models - audit.shadow_models / 2;
    guessed.replicas = targets / 2;
    const double maximum =
        guessed.replicas < 2 ? 0.0 : maximum_audit(guessed, options).maximum_epsilon(answer.delta);
    answer.shadows = CoinPlan{audit.shadow_models, targets, maximum};
  }
}

std::optional<TimePlan> plan_time(const StudyPlanAnswer& answer, Observer& observer) {
  const StudyPlanQuestion& question = answer.question;
  const AuditSpec& audit = answer.study.audit;
  TimePlan plan;
  plan.cores = std::max(1U, std::thread::hardware_concurrency());
  plan.wanted = question.ranks != 0     ? question.ranks
                : question.threads != 0 ? question.threads
                                        : plan.cores;
  const std::uint64_t groups = std::uint64_t{audit.pairs} * audit.replicas;
  plan.at_once = static_cast<unsigned>(
      std::min<std::uint64_t>({std::uint64_t{plan.wanted}, std::uint64_t{plan.cores}, groups}));
  plan.calibration = calibrate(answer.study, plan.at_once, question.seconds, observer);
  if (observer.stop_requested()) return std::nullopt;
  plan.seconds_here = predicted_seconds(plan.calibration, groups, plan.at_once);
  if (plan.wanted > plan.at_once && groups > plan.at_once) {
    plan.seconds_there = predicted_seconds(plan.calibration, groups, plan.wanted);
  }
  return plan;
}

}  // namespace

const Keys<StudyPlanQuestion>& study_plan_keys() {
  using namespace keys;
  using Q = StudyPlanQuestion;
  static const Keys<Q> all = {
      required(file_key<Q>("study", "study file (TOML)", &Q::study)),
      with(number_key<Q>("eps", "number >= 0",
                         "epsilon to refute (default: the study's claims, or 1)", &Q::eps,
                         not_an_epsilon),
           {"epsilon"}),
      number_key<Q>("delta", "number in [0, 1)", "delta to refute it at (default: the study's)",
                    &Q::delta, not_a_delta),
      number_key<Q>("confidence", "number in (0, 1)",
                    "confidence of the audit (default: the study's)", &Q::confidence,
                    not_a_confidence),
      integer_key<Q>("threads", "groups of models trained at once; 0: all cores", &Q::threads, 0,
                     4096),
      integer_key<Q>("ranks", "plan for `mpirun -n N` with one group per process; 0: for threads",
                     &Q::ranks, 0, 1'000'000),
      number_key<Q>("seconds", "number in [0.01, 3600]", "seconds spent timing this machine",
                    &Q::seconds, not_a_time_to_measure)};
  return all;
}

StudyPlanAnswer answer(const StudyPlanQuestion& question, Observer& observer) {
  require_sense(question);
  StudyPlanAnswer answer{question, read_study(question.study, question.settings)};
  const AuditSpec& audit = answer.study.audit;
  answer.confidence = question.confidence.value_or(audit.confidence);
  const std::vector<ClaimedGuarantee> claims = claims_of(question, audit);
  answer.delta = claims.front().delta;
  if (audit.worlds() == 2) {
    for (const ClaimedGuarantee& claim : claims) {
      answer.claims.push_back(
          plan_claim(claim, planned_models(audit), options_of(answer, claim.delta)));
    }
  }
  plan_coins(answer);
  answer.time = plan_time(answer, observer);
  return answer;
}

std::uint64_t models_per_sample(const AuditSpec& audit) {
  return audit.random_pairs ? std::uint64_t{audit.pairs} * audit.replicas : audit.replicas;
}

PlannedModels planned_models(const AuditSpec& audit) {
  return {models_per_sample(audit), audit.random_pairs ? 1 : audit.pairs};
}

Audit maximum_audit(const AuditSpec& audit, const AuditOptions& options) {
  return maximum_audit(planned_models(audit), options);
}

}  // namespace sfumato::lab
