#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/privacy/risk.hpp"

namespace sfumato {

/// What the odometers of runs say about the final weights: their mean along D estimates the KL of the
/// paths, which is an upper bound on KL(D||D') of the weights, and likewise along D' (Spec §8.2); both
/// together give delta(eps) by the sharp conversion (Spec §4.2). Estimates of upper bounds, no bounds.
class OdometerRisk {
 public:
  /// `nats` by world: sums of each run. Throws InvalidArgument if a world has no run.
  explicit OdometerRisk(const std::array<std::vector<double>, 2>& nats);

  [[nodiscard]] const MonteCarloMean& kl(Direction direction) const {
    return means_[static_cast<std::size_t>(direction)];
  }
  [[nodiscard]] std::uint64_t infinite_runs(Direction direction) const {
    return infinite_[static_cast<std::size_t>(direction)];
  }
  [[nodiscard]] Claimed<Epsilon> epsilon(Delta delta) const;
  [[nodiscard]] Claimed<Delta> delta(Epsilon epsilon) const;

 private:
  std::array<MonteCarloMean, 2> means_;
  std::array<std::uint64_t, 2> infinite_;
  std::optional<Risk> risk_;
};

}  // namespace sfumato
