#pragma once

#include <compare>

namespace sfumato {

/// Privacy loss in nats, >= 0; +infinity says that no finite epsilon exists.
class Epsilon {
 public:
  /// Throws   InvalidArgument if negative or NaN.
  explicit Epsilon(double nats);
  [[nodiscard]] double nats() const { return nats_; }
  friend auto operator<=>(Epsilon, Epsilon) = default;

 private:
  double nats_;
};

/// Probability by which e^epsilon-indistinguishability may fail, in [0, 1].
class Delta {
 public:
  /// Throws   InvalidArgument if outside of [0, 1] or NaN.
  explicit Delta(double probability);
  [[nodiscard]] double probability() const { return probability_; }
  friend auto operator<=>(Delta, Delta) = default;

 private:
  double probability_;
};

/// A divergence (relative entropy, Renyi) in nats, >= 0, possibly +infinity.
class Nats {
 public:
  /// Throws   InvalidArgument if negative or NaN.
  explicit Nats(double value);
  [[nodiscard]] double value() const { return value_; }
  friend auto operator<=>(Nats, Nats) = default;

 private:
  double value_;
};

}  // namespace sfumato
