#include "sfumato/study/odometer_risk.hpp"

#include <algorithm>

#include "sfumato/core/error.hpp"
#include "sfumato/divergence/monte_carlo.hpp"

namespace sfumato {
namespace {

Claimed<Nats> mean_of(const std::vector<double>& runs) {
  if (runs.empty()) {
    throw InvalidArgument("a world has no odometer", "Train with train.path_kl = true");
  }
  Moments moments;
  for (const double nats : runs) moments.add(nats);
  return {Nats(moments.mean().value), Claim::exact, "mean of odometers"};
}

/// The largest of what `view` sees in each pair, as an estimate.
template <class View>
auto worst_of(const std::vector<Risk>& pairs, View view) {
  auto worst = view(pairs.front());
  for (const Risk& pair : pairs) worst.value = std::max(worst.value, view(pair).value);
  return decltype(worst){
      worst.value, Claim::estimate,
      pairs.size() == 1
          ? "mean odometer of the runs as KL of D and D', both directions, Spec §4.2"
          : "largest over pairs: mean odometer of a pair's runs as KL of D and D', both "
            "directions, Spec §4.2"};
}

}  // namespace

OdometerRisk::OdometerRisk(const std::vector<OdometerRuns>& pairs) {
  if (pairs.empty()) {
    throw InvalidArgument("no pair has odometers", "Train with train.path_kl = true");
  }
  for (const auto& [along, back] : pairs) {
    pairs_.push_back(Risk::from_kl(mean_of(along), mean_of(back)));
  }
}

Claimed<Epsilon> OdometerRisk::epsilon(Delta delta) const {
  return worst_of(pairs_, [&](const Risk& pair) { return pair.epsilon(delta); });
}

Claimed<Delta> OdometerRisk::delta(Epsilon epsilon) const {
  return worst_of(pairs_, [&](const Risk& pair) { return pair.delta(epsilon); });
}

}  // namespace sfumato
