#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/divergence/step_kl.hpp"

namespace sfumato::lab {

/// What one training run has revealed so far, its path KL: the sum over its steps of the exact KL between the two
/// worlds' transition laws at the point where the run is (step_kl_by_coordinate, Spec §8.1).
///
/// One draw of the random variable whose mean is the path KL (Spec §8.2), along the D chain for
/// KL(p||q) and along the D' chain for the other direction; a bound on nothing by itself.
/// Plain numbers, so that a run can be saved and go on.
struct PathKlSum {
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

}  // namespace sfumato::lab
