#include "lab/nn/gradient_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sfumato/core/error.hpp"

namespace sfumato::lab {

GradientMoments::GradientMoments(std::size_t size, double decay, double floor)
    : decay_(decay), floor_(floor), moments_(size, 0.0), noise_(size, 0.0) {
  if (!(decay >= 0.0 && decay < 1.0) || !(std::isfinite(floor) && floor > 0.0)) {
    throw InvalidArgument("a decay outside [0, 1) or a floor that is not positive",
                          "Give the weight of the past, and the least share of the noise");
  }
}

void GradientMoments::add(std::span<const double> gradient,
                          std::span<const double> noise_variances) {
  if (gradient.size() != moments_.size() || noise_variances.size() != moments_.size()) {
    throw InvalidArgument("a gradient of another size", "Give one number per parameter");
  }
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    moments_[i] = decay_ * moments_[i] + (1.0 - decay_) * (gradient[i] * gradient[i]);
    noise_[i] = decay_ * noise_[i] + (1.0 - decay_) * noise_variances[i];
  }
  weight_ = decay_ * weight_ + (1.0 - decay_);
}

std::vector<double> GradientMoments::second_moments() const {
  std::vector<double> result(moments_.size(), 0.0);
  if (weight_ == 0.0) return result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = std::max((moments_[i] - noise_[i]) / weight_, floor_ * noise_[i] / weight_);
  }
  return result;
}

std::vector<float> GradientMoments::shape() const {
  std::vector<double> roots = second_moments();
  for (double& a : roots) a = std::sqrt(a);
  const double sum = std::accumulate(roots.begin(), roots.end(), 0.0);
  std::vector<float> shape(roots.size(), 1.0F);
  // Where a gradient was not finite there is nothing to learn from it.
  if (!(std::isfinite(sum) && sum > 0.0)) return shape;
  const double factor = static_cast<double>(roots.size()) / sum;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    shape[i] = std::max(static_cast<float>(roots[i] * factor), static_cast<float>(kLeastShape));
  }
  return shape;
}

std::vector<double> GradientMoments::state() const {
  std::vector<double> all = {weight_};
  all.insert(all.end(), moments_.begin(), moments_.end());
  all.insert(all.end(), noise_.begin(), noise_.end());
  return all;
}

void GradientMoments::restore(std::span<const double> state) {
  if (state.size() != 1 + 2 * moments_.size()) {
    throw InvalidArgument("saved moments of another size", "Resume with the study that made them");
  }
  weight_ = state[0];
  std::copy_n(state.begin() + 1, moments_.size(), moments_.begin());
  std::copy_n(state.begin() + 1 + std::ssize(moments_), noise_.size(), noise_.begin());
}

std::uint64_t warm_up_steps(std::uint64_t iterations) {
  return std::max<std::uint64_t>(20, iterations / 20);
}

}  // namespace sfumato::lab
