#include "sfumato/lab/study/path_kl_risk.hpp"

#include <algorithm>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/monte_carlo.hpp"

namespace sfumato::lab {
namespace {

Claimed<Nats> mean_of(const std::vector<double>& runs) {
  if (runs.empty()) {
    throw InvalidArgument("one of D and D' has no path KL", "Train with train.path_kl = true");
  }
  Moments moments;
  for (const double nats : runs) moments.add(nats);
  return {Nats(moments.mean().value), Claim::exact, "mean path KL"};
}

/// The largest of what `view` sees in each pair, as an estimate.
template <class View>
auto worst_of(const std::vector<Risk>& pairs, View view) {
  auto worst = view(pairs.front());
  for (const Risk& pair : pairs) worst.value = std::max(worst.value, view(pair).value);
  return decltype(worst){
      worst.value, Claim::estimate,
      pairs.size() == 1
          ? "mean path KL of the runs as KL of D and D', both directions, Spec §4.2"
          : "largest over pairs: mean path KL of a pair's runs as KL of D and D', both "
            "directions, Spec §4.2"};
}

}  // namespace

PathKlRisk::PathKlRisk(const std::vector<PathKlRuns>& pairs) {
  if (pairs.empty()) {
    throw InvalidArgument("no pair has path KLs", "Train with train.path_kl = true");
  }
  for (const auto& [along, back] : pairs) {
    pairs_.push_back(Risk::from_kl(mean_of(along), mean_of(back)));
  }
}

Claimed<Epsilon> PathKlRisk::epsilon(Delta delta) const {
  return worst_of(pairs_, [&](const Risk& pair) { return pair.epsilon(delta); });
}

Claimed<Delta> PathKlRisk::delta(Epsilon epsilon) const {
  return worst_of(pairs_, [&](const Risk& pair) { return pair.delta(epsilon); });
}

}  // namespace sfumato::lab
