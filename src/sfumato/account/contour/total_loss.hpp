#pragma once

#include <vector>

#include "sfumato/account/steps/step.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato {

/// The total privacy loss T of a ledger in one direction. P discloses everything with the probability
/// failure = 1 - e^log_survival; otherwise T is `shift`, plus a normal loss with E e^{sT} = e^{mu^2 s (s+1) / 2}, plus the losses of
/// the steps, so that (Spec §17.4, §17.6)
///
///   delta(eps) = failure + (1 - failure) delta_rest(eps - shift)
struct TotalLoss {
  std::vector<StepLoss> steps;
  double mu_squared = 0.0;    ///< of the steps that add normal noise without sampling
  double log_survival = 0.0;  ///< log(1 - failure), <= 0
  double shift = 0.0;
  const Observer* observer =
      nullptr;  ///< whom long work on the loss asks whether to stop; may be none
};

/// Throws   Stopped if there is an observer who asked to stop.
void require_going_on(const Observer* observer);

/// P and Q exchanged.
[[nodiscard]] TotalLoss exchanged(const TotalLoss& loss);

/// The most that T can be where nothing is disclosed: +inf where it is not bounded. Exact up to rounding.
[[nodiscard]] double highest_loss(const TotalLoss& loss);

/// k steps that sample with probability q > 0 and add no noise (Spec §17.6): a record that is sampled is disclosed, and one that never was
/// leaves (1 - q)^k. Of a group of g records q is 1 - (1 - q)^g; fixed-size sampling is `replace`.
void add_noiseless(TotalLoss& loss, double q, double k, StepDirection direction);

/// k steps that fail with probability delta0 each: what they disclose then is everything (Spec §17.4).
void add_failures(TotalLoss& loss, double delta0, double k);

/// Throws InvalidArgument if a step or another member is outside its range.
void require_valid(const TotalLoss& loss);

}  // namespace sfumato
