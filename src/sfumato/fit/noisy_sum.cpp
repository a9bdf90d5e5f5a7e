#include "sfumato/fit/noisy_sum.hpp"

#include <cmath>
#include <vector>

#include "sfumato/account/accountant/release_grid.hpp"
#include "sfumato/account/lattice/discrete_noise.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

void add_normal(double noise_std, VectorXd* sum, ReleaseBits& bits) {
  std::vector<double> normals(static_cast<std::size_t>(sum->size()));
  fill_normal(bits, normals);
  *sum += noise_std * Eigen::Map<const VectorXd>(normals.data(), sum->size());
}

void add_discrete(std::int64_t deviation, VectorXd* sum, ReleaseBits& bits) {
  for (double& entry : *sum) {
    entry += static_cast<double>(draw_discrete_gaussian(deviation, bits));
  }
}

}  // namespace

NoisySum noisy_sum(const std::function<void(Index, Eigen::Ref<Eigen::ArrayXd>)>& contribution,
                   const SumBudget& budget, NoiseMode mode, ReleaseBits& bits) {
  const double clip = budget.clip;
  VectorXd sum = VectorXd::Zero(budget.entries);
  Eigen::ArrayXd one(budget.entries);
  const SumGrid grid = mode == NoiseMode::grid
                           ? sum_grid(clip, budget.noise_multiplier, budget.rows,
                                      static_cast<double>(budget.entries))
                           : SumGrid{};
  for (Index i = 0; i < budget.count; ++i) {
    one.setZero();
    contribution(i, one);
    if (mode == NoiseMode::grid) {
      grid.grid.round(one);
    } else if (const double norm = one.matrix().norm(); !(norm <= clip)) {
      one *= std::isfinite(norm) ? clip / norm * (1.0 - 1e-12) : 0.0;
      if (!one.isFinite().all()) one.setZero();
    }
    sum += one.matrix();
  }
  if (mode == NoiseMode::grid) {
    add_discrete(grid.deviation, &sum, bits);
    return {sum / grid.grid.per_unit, static_cast<double>(grid.deviation) / grid.grid.per_unit};
  }
  add_normal(budget.noise_multiplier * clip, &sum, bits);
  return {sum, budget.noise_multiplier * clip};
}

NoisySum noisy_vector(const VectorXd& value, double sensitivity, double mu, NoiseMode mode,
                      ReleaseBits& bits) {
  require_positive("sensitivity", sensitivity);
  require_positive("mu", mu);
  VectorXd released = value;
  if (mode == NoiseMode::gaussian) {
    const double noise_std = sensitivity / mu * (1.0 + 1e-12);
    add_normal(noise_std, &released, bits);
    return {released, noise_std};
  }
  const auto entries = static_cast<double>(value.size());
  // As fine as the noise allows: 2^16 units to the sensitivity, less where mu is tiny.
  const double largest = static_cast<double>(kLargestDeviation) / 2.0;
  const double fine = std::min(0x1p16, largest * mu - std::sqrt(entries));
  if (!(fine >= 1.0)) {
    throw InvalidArgument("no grid is fine enough for so much noise",
                          "Ask for a larger epsilon, or use `noise_mode` = gaussian");
  }
  const double unit = sensitivity / fine;
  const double exact = (fine + std::sqrt(entries)) / mu;
  const auto deviation = static_cast<std::int64_t>(
      std::ceil(std::max(1024.0, exact * discrete_noise_factor(1024, entries) * (1.0 + 1e-12))));
  for (double& entry : released) {
    entry = std::nearbyint(entry / unit);
    if (!(std::abs(entry) <= 0x1p52)) {
      throw NumericalFailure("a parameter is too large for its grid",
                             "Raise the ridge, or use `noise_mode` = gaussian");
    }
  }
  add_discrete(deviation, &released, bits);
  return {released * unit, static_cast<double>(deviation) * unit};
}

}  // namespace sfumato
