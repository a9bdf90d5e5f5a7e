#include "lab/nn/group/grid_step.hpp"

#include <cmath>

#include "lab/nn/kernel/grid.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/random/discrete_gaussian.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato::lab {

using Eigen::Index;

GridSum::GridSum(const NoisePolicy& policy, const Network& network, std::size_t slots,
                 std::uint64_t steps)
    : grid_(sum_grid(1.0 / policy.private_noise().noise_multiplier,
                     policy.private_noise().noise_multiplier, static_cast<double>(slots),
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

void GridStep::begin(BundledModels& bundled) {
  sums_.clear();
  std::vector<double> deviations(network_.parameter_count());
  for (std::size_t m = 0; m < bundled.members.size(); ++m) {
    const NoisePolicy& policy = bundled.policies[m];
    const NoiseShape* given = shape_of(policy.rule);
    for (std::size_t b = 0; b < network_.blocks().size(); ++b) {
      const ParameterBlock& block = network_.blocks()[b];
      for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
        double shape = 1.0;
        if (given != nullptr) shape = static_cast<double>((*given->variances)[i]);
        if (bundled.released) shape = static_cast<double>(bundled.shape.data()[i]);
        deviations[i] = bundled.deviations[m][b] * std::sqrt(shape);
      }
    }
    sums_.emplace_back(policy, network_, slots_, training_.iterations);
    sums_.back().begin(deviations);
  }
}

void GridStep::compute(BundledModels& bundled, StepRows& rows, std::uint64_t step) {
  begin(bundled);
  gradient_.resize(network_.parameter_count());
  const std::size_t models = bundled.members.size();
  const std::vector<float> ones(models, 1.0F);
  ExpandedRows& expanded = rows.rows();
  // One record at a time: each contribution becomes integers by itself before anything is added. The sum is then exact, and neither the order of
  // records nor a rounding that depends on the others can be seen in it.
  for (std::size_t r = 0; r < expanded.count(); ++r) {
    bundled.bundle.compute_gradients(
        {expanded.inputs({r}), expanded.labels() + r, ones.data(), expanded.squares() + r},
        nullptr);
    for (std::size_t m = 0; m < models; ++m) {
      ModelRecord& record = models_[bundled.members[m]];
      if (rows.weights(record.world)[r] == 0.0F) continue;
      record.zeroed_records += bundled.bundle.zeroed()[m];
      bundled.bundle.get_gradient(m, gradient_);
      sums_[m].add(gradient_);
    }
  }
  const std::vector<float> nothing(models, 0.0F);
  if (expanded.count() == 0) {
    rows.clear_gradients(bundled.bundle);
  } else {
    // A pass of weight zero leaves gradients of zero, to which the noisy sums are added.
    bundled.bundle.compute_gradients({expanded.inputs({0}), expanded.labels(), nothing.data()},
                                     nullptr);
  }
  for (std::size_t m = 0; m < models; ++m) {
    ReleaseBits bits(*training_.key, 2 * step);  // the same draws for all models, as elsewhere
    sums_[m].release(bits, static_cast<double>(rows.unit()), gradient_);
    bundled.bundle.add_to_gradient(m, gradient_);
  }
}

}  // namespace sfumato::lab
