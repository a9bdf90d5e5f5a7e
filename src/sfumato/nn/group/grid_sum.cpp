#include "sfumato/nn/group/grid_sum.hpp"

#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"

namespace sfumato {

using Eigen::Index;

GridSum::GridSum(const NoisePolicy& policy, const Network& network, std::size_t slots,
                 std::uint64_t steps)
    : grid_(sum_grid(1.0 / policy.noise_multiplier, policy.noise_multiplier,
                     static_cast<double>(slots),
                     static_cast<double>(network.parameter_count()) * static_cast<double>(steps))),
      deviations_(static_cast<Index>(network.parameter_count())),
      one_(deviations_.size()),
      sum_(deviations_.size()) {}

void GridSum::begin(std::span<const double> deviations) {
  if (static_cast<Index>(deviations.size()) != deviations_.size()) {
    throw InvalidArgument("deviations of another number of parameters", "Give one of each");
  }
  deviations_ = Eigen::Map<const Eigen::ArrayXd>(deviations.data(), deviations_.size());
  sum_.setZero();
}

void GridSum::add(std::span<const float> gradient) {
  one_ =
      Eigen::Map<const Eigen::ArrayXf>(gradient.data(), one_.size()).cast<double>() / deviations_;
  grid_.grid.round(one_);
  sum_ += one_;
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

}  // namespace sfumato
