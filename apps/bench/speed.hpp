#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lab/nn/trial_group.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::apps {

using namespace lab;

/// The fastest this processor does fused multiply-adds on one core, in operations per second (two each):
/// the best of many short rounds, so that pauses by others do not count.
[[nodiscard]] double multiply_add_peak();

/// Standard normals per second on one core.
[[nodiscard]] double normals_per_second();

/// How fast a group trains on this machine.
struct EngineSpeed {
  std::size_t models = 0;
  unsigned threads = 1;
  /// Time that one core spends on one step of one model; the best of several rounds, of all threads
  /// the slowest. Processor time, which pauses by others do not lengthen.
  double seconds_per_model_step = 0.0;
  /// Time on the clock for one step of one model, all threads together: what an estimate of when a
  /// study ends is made of.
  double wall_seconds_per_model_step = 0.0;
  double operations = 0.0;  ///< of one step of one model, counted densely
  /// operations / (seconds_per_model_step peak), the peak being measured in turn with the rounds.
  double roofline_fraction = 0.0;
};

/// Trains `threads` groups, each made by `make_group(thread)` and trained by a thread of its own, for about
/// `seconds` in all. `operations` is Network::gradient_flops() times the batch size.
[[nodiscard]] EngineSpeed measure_speed(
    const std::function<TrialGroup(std::uint64_t seed)>& make_group, double operations,
    unsigned threads, double seconds, Observer& observer);

}  // namespace sfumato::apps
