#include "lab/study/study_progress.hpp"

#include <map>

namespace sfumato::lab {
namespace {

constexpr std::size_t kFewPolicies = 8;

void add_failures(Document& document, const std::vector<TrialFailure>& failures) {
  if (failures.empty()) return;
  Table table("failures", "Trials that failed",
              {{"trials", "trials"},
               {"policy", "first: policy"},
               {"pair", "pair"},
               {"replica", "replica"},
               {"message", "message"}});
  for (const TrialFailure& failure : failures) {
    table.add_row({failure.trials, failure.policy, failure.first.pair, failure.first.replica,
                   failure.message});
  }
  document.add(std::move(table));
}

}  // namespace

StudyProgress progress_of(const Study& study, const Ledger& ledger) {
  StudyProgress progress;
  const std::uint64_t each = std::uint64_t{study.audit.pairs} * study.audit.replicas;
  for (const auto& noise : study.noise) {
    progress.policies.push_back({noise.name, 0, each});
    progress.of += each;
  }
  std::map<std::string, TrialFailure> failures;
  double seconds = 0.0;
  ledger.for_each([&](const TrialResult& trial) {
    PolicyProgress& policy = progress.policies.at(trial.key.policy);
    ++policy.done;
    ++progress.done;
    policy.seconds += trial.seconds;
    seconds += trial.seconds;
    policy.diverged += trial.status == TrialStatus::diverged ? 1 : 0;
    if (trial.status != TrialStatus::failed) return;
    ++policy.failed;
    const auto [failure, is_new] = failures.try_emplace(
        trial.message, TrialFailure{trial.message, policy.policy, trial.key, 0});
    ++failure->second.trials;
  });
  for (auto& [message, failure] : failures) progress.failures.push_back(std::move(failure));
  if (progress.done != 0) progress.seconds_each = seconds / static_cast<double>(progress.done);
  return progress;
}

void add_progress(Document& document, const StudyProgress& progress, Detail detail) {
  Table table("policies", "Trials by noise policy",
              {{"policy", "policy"},
               {"done", "done"},
               {"of", "of"},
               {"diverged", "diverged"},
               {"failed", "failed"},
               {"seconds", "seconds per trial"}});
  for (const PolicyProgress& policy : progress.policies) {
    const Cell each =
        policy.done == 0 ? Cell(Empty{}) : Cell(policy.seconds / static_cast<double>(policy.done));
    table.add_row({policy.policy, policy.done, policy.of, policy.diverged, policy.failed, each});
    document.add_result("trials_done", policy.done, {{"policy", policy.policy}});
    document.add_result("trials_diverged", policy.diverged, {{"policy", policy.policy}});
    document.add_result("trials_failed", policy.failed, {{"policy", policy.policy}});
  }
  document.add_result("trials_done", progress.done);
  document.add_result("trials", progress.of);
  if (detail == Detail::full || progress.policies.size() <= kFewPolicies) {
    document.add(std::move(table));
  }
  add_failures(document, progress.failures);
}

}  // namespace sfumato::lab
