#include "lab/audit/loss_histogram.hpp"

#include <algorithm>

#include "sfumato/report/histogram.hpp"

namespace sfumato::lab {
namespace {

constexpr std::size_t kFew = 50;  // models per world: fewer are shown one by one
constexpr double kFarApart =
    100.0;  // largest over smallest loss, from which on the axis is logarithmic
constexpr double kMostOfThem = 0.95;  // where nearly all losses end ...
constexpr double kPressed = 0.3;      // ... in this part of a linear axis, few bins would hold them
constexpr const char* kWith = "models of D";
constexpr const char* kWithout = "models of D'";

/// Logarithmic where losses lie far apart, or where a few of them would press all others into one bin.
Axis axis_of(std::vector<double> all) {
  Axis axis{"loss of the differing record", "nats"};
  std::sort(all.begin(), all.end());
  const double least = all.front(), most = all.back();
  const double high =
      all[static_cast<std::size_t>(kMostOfThem * static_cast<double>(all.size() - 1))];
  const bool far_apart = most > kFarApart * least;
  const bool few_far_off = high - least < kPressed * (most - least);
  if (least > 0.0 && (far_apart || few_far_off)) axis.scale = Scale::log;
  return axis;
}

Figure strips(const std::string& key, const std::string& title, const Axis& axis,
              const Pair<std::vector<double>>& losses) {
  Axis worlds{"world"};
  worlds.categories = {"D", "D'"};
  Figure figure(key, title, Mark::points, axis, worlds);
  const auto add = [&](const char* name, const char* models, const std::vector<double>& world,
                       double row) {
    figure.add({name,
                models,
                world,
                std::vector<double>(world.size(), row),
                {},
                Claim::exact,
                "a point per model"});
  };
  add("with", kWith, losses.d, 0.0);
  add("without", kWithout, losses.d_prime, 1.0);
  figure.set_caption("A point is a model, the line the median.");
  return figure;
}

}  // namespace

Figure loss_histogram(const std::string& key, const std::string& title,
                      const Pair<std::vector<double>>& losses) {
  std::vector<double> all = losses.d;
  all.insert(all.end(), losses.d_prime.begin(), losses.d_prime.end());
  if (all.empty()) {
    return Figure(key, title, Mark::bars, {"loss of the differing record", "nats"}, {"models"});
  }
  const Axis axis = axis_of(all);
  if (std::max(losses.d.size(), losses.d_prime.size()) < kFew) {
    return strips(key, title, axis, losses);
  }
  Figure figure(key, title, Mark::bars, axis, {"models"});
  figure.set_caption("An attacker can use what differs between the models of D and those of D'.");
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
  add("with", kWith, losses.d);
  add("without", kWithout, losses.d_prime);
  return figure;
}

}  // namespace sfumato::lab
