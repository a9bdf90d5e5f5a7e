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
/// Plain numbers, so that a run can be saved and go on.
struct Odometer {
  double nats = 0.0;
  std::uint64_t steps = 0;           ///< that told the worlds apart; the others add nothing
  std::uint64_t infinite_steps = 0;  ///< of these, how many are infinite

  /// The first step that is infinite, and the coordinates that make it so.
  struct Infinite {
    std::uint64_t step = 0;
    std::size_t count = 0;
    std::vector<std::size_t> first_coordinates;  ///< as StepKl::first_infinite
  };
  std::optional<Infinite> first_infinite;

  /// Adds training step number `number`.
  void add(const StepKl& step, std::uint64_t number);
};

/// The path KL from independent runs: the mean of their odometers, with its standard error. An
/// estimate; conditional on the batches where the runs share them (Spec §8.2).
class OdometerMean {
 public:
  void add(const Odometer& run) { moments_.add(run.nats); }

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
