#include "sfumato/study/odometer_risk.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

template <class T>
Claimed<T> estimated(const Claimed<T>& as_if_exact) {
  return {as_if_exact.value, Claim::estimate,
          "mean odometer of the runs as KL of D and D', both directions, Spec §4.2"};
}

}  // namespace

OdometerRisk::OdometerRisk(const std::array<std::vector<double>, 2>& nats) {
  for (std::size_t world = 0; world < 2; ++world) {
    if (nats[world].empty()) {
      throw InvalidArgument("a world has no odometer", "Train with train.odometer = true");
    }
    Moments moments;
    for (const double value : nats[world]) moments.add(value);
    means_[world] = moments.mean();
    infinite_[world] = moments.not_finite();
  }
  const auto kl = [&](std::size_t world) {
    return Claimed<Nats>{Nats(means_[world].value), Claim::exact, "mean of odometers"};
  };
  risk_ = Risk::from_kl(kl(0), kl(1));
}

Claimed<Epsilon> OdometerRisk::epsilon(Delta delta) const {
  return estimated(risk_->epsilon(delta));
}

Claimed<Delta> OdometerRisk::delta(Epsilon epsilon) const {
  return estimated(risk_->delta(epsilon));
}

}  // namespace sfumato
