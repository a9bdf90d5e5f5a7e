#include "sfumato/audit/canary_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {

std::vector<CanaryGuesses> guess_canaries(std::span<const double> scores,
                                          std::span<const std::uint8_t> included,
                                          std::span<const std::uint64_t> guesses, Ties ties,
                                          std::uint64_t seed) {
  require_size("included", std::ssize(included), std::ssize(scores));
  std::vector<CanaryGuesses> results;
  for (const std::uint64_t number : guesses) {
    results.push_back({scores.size(), number, 0});
    require_guesses(results.back());
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      throw InvalidArgument(fmt::format("the score of canary {} is NaN", i + 1),
                            "Give every canary a score");
    }
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (ties == Ties::at_random) {
    const Stream stream(StreamKey(seed, Purpose::bootstrap, {2}));
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      std::swap(order[i], order[i + stream.below(0, i, order.size() - i)]);
    }
  }
  // Members are guessed from the front and non-members from the back, so against the attacker non-members
  // come first among equals.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (scores[a] != scores[b]) return scores[a] > scores[b];
    return ties == Ties::against_attacker && included[a] == 0 && included[b] != 0;
  });
  for (CanaryGuesses& result : results) {
    const std::size_t out = result.guesses / 2, in = result.guesses - out;
    for (std::size_t i = 0; i < in; ++i) result.correct += included[order[i]] != 0;
    for (std::size_t i = 0; i < out; ++i) {
      result.correct += included[order[order.size() - 1 - i]] == 0;
    }
  }
  return results;
}

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
