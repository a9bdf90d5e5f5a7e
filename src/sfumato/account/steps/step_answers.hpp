#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

#include "sfumato/account/contour/density_ratio.hpp"
#include "sfumato/account/contour/log_enclosure.hpp"
#include "sfumato/account/contour/tilted_distribution.hpp"
#include "sfumato/account/contour/transform_decay.hpp"
#include "sfumato/account/lattice/loss_distribution.hpp"
#include "sfumato/account/steps/step_direction.hpp"

/// The types that the members of a step answer with (steps/step.hpp lists the questions).
namespace sfumato {

/// The two numbers that delta grows with; of steps with one the second is 1.
struct Signals {
  double first, second;
};

/// Steps whose kinds are equal differ in their signals and their counts alone.
using StepKind = std::tuple<StepDirection, double>;

/// How far neighbours are apart where every record is sampled, in deviations of the noise.
struct Contribution {
  double largest;  ///< of one record, or of a group
  double apart;    ///< of the two outputs of a step that samples it
};

/// Steps that sample a record with this probability and add no noise.
struct Disclosed {
  double rate;
  StepDirection direction;
};

/// A step between two that doubles can compute with (Spec §20.5): an end that is missing reveals nothing, and `disclosed` stands for
/// an upper end without noise.
template <class Step>
struct BoundedStep {
  std::optional<Step> lower, upper;
  std::optional<Disclosed> disclosed = {};
  bool is_exact = false;  ///< both ends are the step itself
};

/// Beyond these ends of m, q and eps0 no contour is tried.
inline constexpr double kMostSignal =
    100.0;  // m: two records are 100 standard deviations apart, e^-1250 of the noise confuses them
inline constexpr double kLeastSignal = 1e-60;  // m, q and eps0
inline constexpr double kMostLoss = 1e4;       // of one Laplace step

/// Ends of a step of sampled normal noise; `all` is the step without its noise.
template <class Step>
[[nodiscard]] BoundedStep<Step> bounded_gaussian(const Step& step, double largest_m,
                                                 const Disclosed& all) {
  if (step.q >= kLeastSignal && step.m >= kLeastSignal && step.m <= largest_m) {
    return {step, step, std::nullopt, true};
  }
  Step end = step;
  if (step.m > largest_m) {
    end.m = largest_m;
    return {end, std::nullopt, all};
  }
  end.q = std::max(step.q, kLeastSignal);
  end.m = std::max(step.m, kLeastSignal);
  return {std::nullopt, end};
}

/// Ends of a step whose loss is at most eps0.
template <class Step>
[[nodiscard]] BoundedStep<Step> bounded_loss(const Step& step) {
  if (step.eps0 >= kLeastSignal && step.eps0 <= kMostLoss) return {step, step, std::nullopt, true};
  Step end = step;
  end.eps0 = std::clamp(step.eps0, kLeastSignal, kMostLoss);
  if (step.eps0 > kMostLoss) return {end, std::nullopt, Disclosed{1.0, StepDirection::replace}};
  return {std::nullopt, end};
}

/// Throws   InvalidArgument that names the number.
void require_rate(double q);
void require_positive_finite(std::string_view name, double value);
void require_count(double k);

}  // namespace sfumato
