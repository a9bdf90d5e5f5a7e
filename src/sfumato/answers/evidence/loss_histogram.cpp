#include "sfumato/answers/evidence/loss_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sfumato {
namespace {

constexpr std::size_t kBins = 12;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Figure loss_histogram(const std::string& policy, const Pair<std::vector<double>>& losses) {
  const double first = mean_of(losses.d), second = mean_of(losses.d_prime);
  Figure figure("losses_" + policy,
                fmt::format("Loss on the differing record, {}: means {:.4g} on D and {:.4g} on D', "
                            "{:.3g} apart",
                            policy, first, second, std::fabs(first - second)),
                Mark::bars, {"loss on the differing record"}, {"models"});
  double low = losses.d.front(), high = low;
  for (const std::vector<double>* world : {&losses.d, &losses.d_prime}) {
    low = std::min(low, *std::min_element(world->begin(), world->end()));
    high = std::max(high, *std::max_element(world->begin(), world->end()));
  }
  const double size = std::max(std::fabs(low), std::fabs(high));
  if (!(high - low > 1e-9 * size)) {  // edges would not rise
    const double room = std::max(std::fabs(low), 1e-300) * 1e-3;
    low -= room;
    high += room;
  }
  std::vector<double> edges;
  for (std::size_t i = 0; i <= kBins; ++i) {
    edges.push_back(low + (high - low) * static_cast<double>(i) / double{kBins});
  }
  const auto add = [&](const char* key, const char* title, const std::vector<double>& world) {
    std::vector<double> counts(kBins, 0.0);
    for (const double loss : world) {
      const double share = (loss - low) / (high - low) * double{kBins};
      counts[std::min(kBins - 1, static_cast<std::size_t>(share))] += 1.0;
    }
    figure.add({key, title, edges, std::move(counts), {}, Claim::exact, "counts of models"});
  };
  add("with", "models of D", losses.d);
  add("without", "models of D'", losses.d_prime);
  return figure;
}

}  // namespace sfumato
