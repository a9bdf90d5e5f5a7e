#include "sfumato/audit/canary_audit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/core/error.hpp"

namespace sfumato {

ScoreSample by_coin(const CanaryScores& canaries) {
  ScoreSample sample;
  for (std::size_t i = 0; i < canaries.scores.size(); ++i) {
    (canaries.included[i] != 0 ? sample.with : sample.without).push_back(canaries.scores[i]);
  }
  return sample;
}

bool have_ties(const CanaryScores& canaries) {
  std::vector<double> scores = canaries.scores;
  std::sort(scores.begin(), scores.end());
  return std::adjacent_find(scores.begin(), scores.end()) != scores.end();
}

OneRunAudit one_run_audit(const CanaryScores& canaries, const CanaryOptions& options) {
  const std::vector<std::uint64_t> numbers =
      options.guesses ? std::vector{*options.guesses} : guess_numbers(canaries.scores.size());
  return {guess_canaries(canaries.scores, canaries.included, numbers, canaries.ties, options.seed),
          1.0 - options.level};
}

std::vector<OneRunAudit> audit_replicas(std::span<const CanaryScores> models, std::uint64_t planned,
                                        const CanaryOptions& options) {
  if (models.size() > planned) {
    throw InvalidArgument(
        fmt::format("{} models, of which {} were planned", models.size(), planned),
        "Plan all models that are looked at");
  }
  std::vector<OneRunAudit> audits;
  CanaryOptions of_one = options;
  of_one.level = options.level / static_cast<double>(planned);
  for (const CanaryScores& model : models) {
    audits.push_back(one_run_audit(model, of_one));
    ++of_one.seed;
  }
  return audits;
}

const OneRunAudit& best_replica(std::span<const OneRunAudit> replicas, Delta delta) {
  if (replicas.empty()) throw InternalError("the best of no replicas");
  return *std::max_element(replicas.begin(), replicas.end(),
                           [&](const OneRunAudit& a, const OneRunAudit& b) {
                             return a.epsilon(delta).value < b.epsilon(delta).value;
                           });
}

}  // namespace sfumato
