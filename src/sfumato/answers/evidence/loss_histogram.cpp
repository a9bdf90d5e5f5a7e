#include "sfumato/answers/evidence/loss_histogram.hpp"

#include <algorithm>

#include "sfumato/report/histogram.hpp"

namespace sfumato {

Figure loss_histogram(const std::string& key, const std::string& title,
                      const Pair<std::vector<double>>& losses) {
  std::vector<double> all = losses.d;
  all.insert(all.end(), losses.d_prime.begin(), losses.d_prime.end());
  const Axis axis{"loss of the differing record", "nats"};
  Figure figure(key, title, Mark::bars, axis, {"models"});
  if (all.empty()) return figure;
  const std::vector<double> edges = histogram(key, title, axis, all).series().front().x;
  const auto add = [&](const char* name, const char* models, const std::vector<double>& world) {
    std::vector<double> counts(edges.size() - 1, 0.0);
    for (const double loss : world) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), loss) - edges.begin();
      const auto bin =
          std::clamp<std::ptrdiff_t>(above - 1, 0, static_cast<std::ptrdiff_t>(counts.size()) - 1);
      counts[static_cast<std::size_t>(bin)] += 1.0;
    }
    figure.add({name, models, edges, std::move(counts), {}, Claim::exact, "counts of models"});
  };
  add("with", "models of D", losses.d);
  add("without", "models of D'", losses.d_prime);
  return figure;
}

}  // namespace sfumato
