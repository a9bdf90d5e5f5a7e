#pragma once

#include <compare>

#include "sfumato/core/check.hpp"

namespace sfumato {

/// Privacy loss in nats, >= 0; +infinity says that no finite epsilon exists.
class Epsilon {
 public:
  explicit Epsilon(double nats) : nats_(require_non_negative("epsilon", nats)) {}
  [[nodiscard]] double nats() const { return nats_; }
  friend auto operator<=>(Epsilon, Epsilon) = default;

 private:
  double nats_;
};

/// Probability by which e^epsilon-indistinguishability may fail, in [0, 1].
class Delta {
 public:
  explicit Delta(double probability) : probability_(require_probability("delta", probability)) {}
  [[nodiscard]] double probability() const { return probability_; }
  friend auto operator<=>(Delta, Delta) = default;

 private:
  double probability_;
};

/// A divergence (relative entropy, Renyi) in nats, >= 0, possibly +infinity.
class Nats {
 public:
  explicit Nats(double value) : value_(require_non_negative("divergence", value)) {}
  [[nodiscard]] double value() const { return value_; }
  friend auto operator<=>(Nats, Nats) = default;

 private:
  double value_;
};

}  // namespace sfumato
