#include "sfumato/account/steps/allocated_gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

/// With larger contributions sampling helps little, and sums over z are long.
constexpr double kLargestSignal = 12.0;
/// How far a contour of M^k goes, and how far it must: |M(s0 + iy)| falls like e^{-m^2 y^2 / 2t} (Spec §28.7). At the farthest one takes
/// seconds; of more batches the bound of as many as that is said.
constexpr double kFarthest = 600.0, kDigits = 37.0;

/// Batches for which a contour ends.
double most_batches(double m, double k) {
  return std::max(1.0, std::floor(k * kFarthest * m * kFarthest * m / (2.0 * kDigits)));
}

}  // namespace

void AllocatedGaussian::require_valid() const {
  if (!(t >= 1.0 && t == std::floor(t) && t <= 0x1p53)) {
    throw InvalidArgument(fmt::format("t = {} is not a number of batches", t),
                          "Pass a whole number >= 1");
  }
  require_positive_finite("m", m);
}

double AllocatedGaussian::highest_loss() const { return kInf; }

AllocatedGaussian AllocatedGaussian::exchanged() const {
  return {t, m, k, sfumato::exchanged(direction)};
}

double AllocatedGaussian::expected_sampled() const { return kInf; }

BoundedStep<AllocatedGaussian> AllocatedGaussian::bounded() const {
  if (m > kMostLoss) return {std::nullopt, std::nullopt, Disclosed{1.0, direction}};
  AllocatedGaussian fewer = *this;
  fewer.m = std::max(m, kLeastSignal);
  fewer.t = t == 1.0 || m > kLargestSignal ? 1.0 : std::min(t, most_batches(fewer.m, k));
  const bool same = fewer.t == t && fewer.m == m;
  if (same) return {*this, *this, std::nullopt, true};
  return {std::nullopt, fewer};
}

double AllocatedGaussian::steepest() const {
  return t == 1.0 ? m : 3e4 / moments().highest_abscissa();
}

DecayBound AllocatedGaussian::log_bound_beyond(const StepCumulant& here, double, double reach,
                                               double) const {
  // Theorem 28.3; the cumulant that it is relative to is off by its error.
  return {std::min(0.0, -0.5 * m * m / t * reach * reach * (1.0 - 16.0 * kUnit) + here.error), 1.0};
}

}  // namespace sfumato
