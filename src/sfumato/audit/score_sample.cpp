#include "sfumato/audit/score_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sfumato/random/stream.hpp"

namespace sfumato {
namespace {

void require_world(const char* name, const std::vector<double>& scores, const Where& where) {
  if (scores.empty()) {
    throw InvalidArgument(fmt::format("there are no scores of models {}", name),
                          "Pass one score per trained model", where);
  }
  const auto bad =
      std::find_if(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  if (bad != scores.end()) {
    throw InvalidArgument(
        fmt::format("score {} of models {} is NaN", bad - scores.begin() + 1, name),
        "Leave diverged models out of both files, or give them a score", where);
  }
}

std::uint64_t count_from(const std::vector<double>& scores, double threshold) {
  return static_cast<std::uint64_t>(std::count_if(
      scores.begin(), scores.end(), [threshold](double score) { return score >= threshold; }));
}

/// Which of 0 .. size - 1 belong to the choosing part: the first `chosen` of a random order.
std::vector<bool> draw(std::size_t size, std::size_t chosen, const Stream& stream,
                       std::uint64_t step) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<bool> drawn(size, false);
  for (std::size_t i = 0; i < chosen; ++i) {
    std::swap(order[i], order[i + stream.below(step, i, size - i)]);
    drawn[order[i]] = true;
  }
  return drawn;
}

}  // namespace

void require_scores(const ScoreSample& sample, const Where& where) {
  require_world("with the record", sample.with, where);
  require_world("without the record", sample.without, where);
}

ScoreSample pooled(std::span<const ScoreSample> pairs) {
  ScoreSample pool;
  for (const ScoreSample& pair : pairs) {
    pool.with.insert(pool.with.end(), pair.with.begin(), pair.with.end());
    pool.without.insert(pool.without.end(), pair.without.begin(), pair.without.end());
  }
  return pool;
}

TestCounts counts_from(const ScoreSample& sample, double threshold) {
  return {count_from(sample.with, threshold), sample.with.size(),
          count_from(sample.without, threshold), sample.without.size()};
}

std::size_t choosing_models(std::size_t models, double fraction) {
  if (models < 2) return models;
  const auto part = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(models)));
  return std::clamp<std::size_t>(part, 1, models - 1);
}

SplitSample split(const ScoreSample& sample, double fraction, std::uint64_t seed) {
  require_scores(sample);
  if (!(fraction > 0.0 && fraction < 1.0)) {
    throw InvalidArgument(fmt::format("fraction = {} is not between 0 and 1", fraction),
                          "Pass the share of models that choose the threshold, such as 0.5");
  }
  const std::size_t common = std::min(sample.with.size(), sample.without.size());
  if (common < 2) {
    throw InvalidArgument("one of D and D' has a single model, which cannot be split",
                          "Train more models, or fix the threshold beforehand");
  }
  const Stream stream(StreamKey(seed, Purpose::bootstrap, {1}));
  // The indices that both worlds have are split together, the rest of the longer one by itself.
  const std::vector<bool> head = draw(common, choosing_models(common, fraction), stream, 0);
  const std::size_t rest = std::max(sample.with.size(), sample.without.size()) - common;
  const std::vector<bool> tail =
      draw(rest, static_cast<std::size_t>(std::llround(fraction * static_cast<double>(rest))),
           stream, 1);
  SplitSample parts;
  const auto deal = [&](const std::vector<double>& from, std::vector<double>& choosing,
                        std::vector<double>& fresh) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const bool chosen = i < common ? head[i] : tail[i - common];
      (chosen ? choosing : fresh).push_back(from[i]);
    }
  };
  deal(sample.with, parts.choosing.with, parts.fresh.with);
  deal(sample.without, parts.choosing.without, parts.fresh.without);
  return parts;
}

}  // namespace sfumato
