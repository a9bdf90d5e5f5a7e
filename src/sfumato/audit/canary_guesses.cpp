#include "sfumato/audit/canary_guesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "sfumato/core/check.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato {

CanaryGuesses guess_canaries(std::span<const double> scores, std::span<const std::uint8_t> included,
                             std::uint64_t guesses, std::uint64_t seed) {
  require_size("included", std::ssize(included), std::ssize(scores));
  CanaryGuesses result{scores.size(), guesses, 0};
  require_guesses(result);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      throw InvalidArgument(fmt::format("the score of canary {} is NaN", i + 1),
                            "Give every canary a score");
    }
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Stream stream(StreamKey(seed, Purpose::bootstrap, {2}));
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + stream.below(0, i, order.size() - i)]);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const std::size_t members = guesses - guesses / 2;
  for (std::size_t i = 0; i < members; ++i) result.correct += included[order[i]] != 0;
  for (std::size_t i = 0; i < guesses / 2; ++i) {
    result.correct += included[order[order.size() - 1 - i]] == 0;
  }
  return result;
}

}  // namespace sfumato
