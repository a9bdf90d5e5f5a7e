#include "reproduce/statistic_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/random/stream.hpp"

namespace sfumato::apps {
namespace {

constexpr std::uint64_t kResamples = 2000;

/// The statistic of every replica of a pair alone.
std::vector<double> replicas_of(const ConfidencePair& pair, Epsilon epsilon) {
  std::vector<double> shares;
  for (Eigen::Index r = 0; r < pair.with.rows(); ++r) {
    const ConfidencePair one{pair.with.row(r), pair.without.row(r)};
    shares.push_back(paper_statistic({&one, 1}, epsilon).mean.value);
  }
  return shares;
}

ProbabilityInterval percentiles(std::vector<double> values, double confidence) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {at(0.5 * (1.0 - confidence)), at(0.5 * (1.0 + confidence))};
}

}  // namespace

StatisticIntervals statistic_intervals(std::span<const ConfidencePair> pairs, Epsilon epsilon,
                                       double confidence, std::uint64_t seed) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  (void)paper_statistic(pairs, epsilon);  // checks
  std::vector<std::vector<double>> shares;
  for (const ConfidencePair& pair : pairs) shares.push_back(replicas_of(pair, epsilon));
  const Stream stream(StreamKey(seed, Purpose::bootstrap));
  std::vector<double> means, maxima;
  for (std::uint64_t resample = 0; resample < kResamples; ++resample) {
    std::uint64_t index = 0;
    double sum = 0.0, largest = 0.0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::vector<double>& of = shares[stream.below(resample, index++, shares.size())];
      double mean = 0.0;
      for (std::size_t j = 0; j < of.size(); ++j) {
        mean += of[stream.below(resample, index++, of.size())];
      }
      mean /= static_cast<double>(of.size());
      sum += mean;
      largest = std::max(largest, mean);
    }
    means.push_back(sum / static_cast<double>(shares.size()));
    maxima.push_back(largest);
  }
  return {percentiles(std::move(means), confidence), percentiles(std::move(maxima), confidence)};
}

}  // namespace sfumato::apps
