#include "sfumato/account/accountant/release_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {
namespace {

/// Sums of integers below 2^53 are exact in double precision. A sixteenth of it: more rows than planned may fall into a part of the table.
constexpr double kExact = 0x1p49;
constexpr double kLeastDeviation = 1024.0;

[[noreturn]] void refuse_grid(double rows) {
  throw InvalidArgument(
      fmt::format("no grid is fine enough for {:.10g} rows with so little or so much noise", rows),
      "Ask for a larger or smaller epsilon, declare fewer rows, or take noise in floating point",
      Where::here("exact noise"));
}

}  // namespace

void RoundingGrid::round(Eigen::Ref<Eigen::ArrayXd> contribution) const {
  // Sums of squares of integers are exact in any order, as long as they do not exceed `square`.
  const auto nearest_integers = nearest(contribution * per_unit);
  if (nearest_integers.square().sum() <= square) {
    contribution = nearest_integers;
    return;
  }
  double norm = 0.0;
  for (double& value : contribution) {
    value = std::trunc(value * per_unit);
    norm += value * value;
  }
  if (!(norm <= square)) contribution.setZero();  // also for what is not finite
}

SumGrid sum_grid(double clip, double noise_multiplier, double rows, double draws) {
  require_positive("clip", clip);
  require_positive("noise_multiplier", noise_multiplier);
  // 2^17 integers to the clip: fine beside the noise also where all rows round alike, and squares are far from 2^53.
  constexpr double kFine = 0x1p17;
  double deviation = std::ceil(kFine * noise_multiplier);
  deviation = std::clamp(deviation, kLeastDeviation, static_cast<double>(kLargestDeviation));
  const auto n = static_cast<std::int64_t>(deviation);
  const double length = deviation / (noise_multiplier * discrete_noise_factor(n, draws));
  const double square = std::floor(length * length * (1.0 - 0x1p-50));
  if (!(square >= 1.0 && square <= kExact && rows * length + 512.0 * deviation <= kExact)) {
    refuse_grid(rows);
  }
  return {{std::sqrt(square) / clip, square}, n};
}

MomentGrid moment_grid(double bound, double mu, bool replaced, double rows, double draws) {
  require_positive("bound", bound);
  require_positive("mu", mu);
  // zero_out: mu = square / (sqrt 2 n), replace: mu = square / n.
  const double per_mu = replaced ? 1.0 : std::sqrt(0.5);
  const auto largest = static_cast<double>(kLargestDeviation) / 2.0;
  const double square =
      std::floor(std::min({0x1p30, 0.999 * largest * mu / per_mu, kExact / (2.0 * rows)}));
  if (!(square >= 1.0)) refuse_grid(rows);
  double n = std::max(kLeastDeviation, std::ceil(square * per_mu / mu));
  n = std::ceil(square * per_mu / mu * discrete_noise_factor(static_cast<std::int64_t>(n), draws) *
                (1.0 + 0x1p-50));
  n = std::max(n, kLeastDeviation);
  const double diagonal = std::ceil(n * std::sqrt(2.0) * (1.0 + 0x1p-50));
  if (!(n <= largest && rows * square + 512.0 * diagonal <= kExact)) refuse_grid(rows);
  return {{std::sqrt(square) / bound, square},
          static_cast<std::int64_t>(n),
          static_cast<std::int64_t>(diagonal)};
}

}  // namespace sfumato
