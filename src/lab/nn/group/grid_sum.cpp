#include "lab/nn/group/grid_sum.hpp"

#include "lab/nn/kernel/grid.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato::lab {

using Eigen::Index;

GridSum::GridSum(const NoisePolicy& policy, const Network& network, std::size_t slots,
                 std::uint64_t steps)
    : grid_(sum_grid(1.0 / policy.noise_multiplier, policy.noise_multiplier,
                     static_cast<double>(slots),
                     static_cast<double>(network.parameter_count()) * static_cast<double>(steps))),
      deviations_(static_cast<Index>(network.parameter_count())),
      scales_(deviations_.size()),
      one_(deviations_.size()),
      sum_(deviations_.size()) {}

void GridSum::begin(std::span<const double> deviations) {
  if (static_cast<Index>(deviations.size()) != deviations_.size()) {
    throw InvalidArgument("deviations of another number of parameters", "Give one of each");
  }
  deviations_ = Eigen::Map<const Eigen::ArrayXd>(deviations.data(), deviations_.size());
  scales_ = grid_.grid.per_unit / deviations_;
  sum_.setZero();
}

void GridSum::add(std::span<const float> gradient) {
  // As RoundingGrid::round(): towards zero if the nearest integers are too long, and nothing if those are, or something is not finite.
  const auto fits = [&](auto rounded) {
    return rounded(gradient.data(), scales_.data(), gradient.size(), one_.data()) <=
           grid_.grid.square;
  };
  if (!fits(kernel::nearest_integers) && !fits(kernel::truncated_integers)) return;
  kernel::add_terms(one_.data(), gradient.size(), sum_.data());
}

void GridSum::release(ReleaseBits& bits, double factor, std::span<float> noisy) {
  for (double& integer : sum_) {
    integer += static_cast<double>(draw_discrete_gaussian(grid_.deviation, bits));
  }
  const double unit = factor / grid_.grid.per_unit;
  for (Index i = 0; i < sum_.size(); ++i) {
    noisy[static_cast<std::size_t>(i)] = static_cast<float>(sum_(i) * deviations_(i) * unit);
  }
}

}  // namespace sfumato::lab
