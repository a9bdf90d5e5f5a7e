#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/divergence/step_kl.hpp"

namespace sfumato {

/// What one training run has revealed so far: the sum over its steps of the exact KL between the two
/// worlds' transition laws at the point where the run is (step_kl_by_coordinate, Spec §8.1).
///
/// One draw of the random variable whose mean is the path KL (Spec §8.2), along the D chain for
/// KL(p||q) and along the D' chain for the other direction; a bound on nothing by itself.
class Odometer {
 public:
  void add(const StepKl& step);

  [[nodiscard]] double nats() const { return nats_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Steps whose KL is infinite.
  [[nodiscard]] std::uint64_t infinite_steps() const { return infinite_steps_; }

  /// The first step that is infinite, counted from 0, and the coordinates that make it so.
  struct Infinite {
    std::uint64_t step;
    std::size_t count;
    std::vector<std::size_t> first_coordinates;  ///< as StepKl::first_infinite
  };
  [[nodiscard]] const std::optional<Infinite>& first_infinite() const { return first_infinite_; }

 private:
  double nats_ = 0.0;
  std::uint64_t steps_ = 0, infinite_steps_ = 0;
  std::optional<Infinite> first_infinite_;
};

/// The path KL from independent runs: the mean of their odometers, with its standard error. An
/// estimate; conditional on the batches where the runs share them (Spec §8.2).
class OdometerMean {
 public:
  void add(const Odometer& run) { moments_.add(run.nats()); }

  [[nodiscard]] std::uint64_t runs() const { return moments_.count(); }
  [[nodiscard]] std::uint64_t infinite_runs() const { return moments_.not_finite(); }
  /// +inf, with a standard error of +inf, as soon as one run is infinite: so is then the path KL if
  /// such runs have positive probability. The standard error of one run is +inf.
  /// Throws   InvalidArgument if there are no runs.
  [[nodiscard]] Claimed<MonteCarloMean> mean() const;

 private:
  Moments moments_;
};

}  // namespace sfumato
