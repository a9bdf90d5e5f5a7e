#include "sfumato/account/contour/real_grid.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/account/contour/rounding_unit.hpp"
#include "sfumato/account/contour/tilt_sums.hpp"
#include "sfumato/account/contour/trapezoidal_rule.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kLongest = 60.0;       // of a range
constexpr double kMostPoints = 4000.0;  // of a grid
constexpr double kMostExponent = 690.0;

}  // namespace

/// The end of the range of s; `add` tilts to the left, and its points are counted from the right.
double RealGrid::farthest_for(double s) const {
  const trapezoidal::Range range = trapezoidal::range_of(step_, s);
  return step_.direction == StepDirection::add ? -range.low : range.high;
}

/// How many of the points are needed up to `farthest`; nothing where they are too many or an exponent too large.
std::optional<std::size_t> RealGrid::points_for(double s, double farthest) {
  if (farthest > kLongest) return std::nullopt;
  if (s > designed_for_) place(s);
  if (!(farthest - start_ < kMostPoints * spacing_)) return std::nullopt;
  extend(farthest);
  const auto reached = static_cast<std::size_t>(std::floor((farthest - start_) / spacing_) + 1.0);
  const std::size_t count = std::min(reached, weight_.size());
  if (count == 0) return std::nullopt;
  // The exponent is monotone in z for s >= 0; otherwise it is between two powers.
  const double largest = s >= 0.0 ? std::max(std::fabs(offset_[0] + s * loss_[0]),
                                             std::fabs(offset_[count - 1] + s * loss_[count - 1]))
                                  : 3.0 * largest_log_;
  if (!(largest < kMostExponent)) return std::nullopt;
  return count;
}

/// The relative rounding of positive sums: no point has more roundings than one of the ends.
double RealGrid::relative_error(std::size_t count, double s) const {
  const double farthest = start_ + static_cast<double>(count) * spacing_;
  return 4.0 * kUnit *
         (10.0 + 0.5 * std::max(farthest * farthest, start_ * start_) +
          3.0 * (1.0 + 2.0 * std::fabs(s)) * std::fabs(loss_[count - 1]) +
          0.1 * static_cast<double>(count));
}

StepCumulant RealGrid::all_of(std::size_t count, double s) const {
  const TiltSums sums =
      tilt_sums({weight_.data(), offset_.data(), loss_.data(), roundings_.data(), count}, s);
  const double mean = sums.first / sums.mass;
  // K(s) from M(s) - 1: with rare sampling M(s) is 1 + 1e-10, and a logarithm of the sum itself would keep six digits.
  return {std::log1p(sums.change), mean, std::max(sums.second / sums.mass - mean * mean, 0.0),
          4.0 * kUnit * sums.rounding / sums.mass + 2.2e-21 + 2e-17 / step_.k};
}

std::optional<StepCumulant> RealGrid::at(double s) {
  const auto count = points_for(s, farthest_for(s));
  if (!count) return std::nullopt;
  return all_of(*count, s);
}

std::optional<SplitCumulant> RealGrid::split_at(double s) {
  const auto count = points_for(s, farthest_for(s));
  if (!count) return std::nullopt;
  SplitCumulant result{all_of(*count, s), 0.0, 0.0, 0.0, 0.0};
  const TiltSums sampled =
      tilt_sums({sampled_.data(), offset_.data(), loss_.data(), roundings_.data(), *count}, s);
  if (!(sampled.mass > 0.0)) return std::nullopt;
  result.sampled_share = std::min(sampled.mass * std::exp(-result.all.value), 1.0);
  result.sampled_mean = sampled.first / sampled.mass;
  result.sampled_variance =
      std::max(sampled.second / sampled.mass - result.sampled_mean * result.sampled_mean, 0.0);
  result.sampled_error =
      relative_error(*count, s) + 2e-17 / step_.k +
      (std::exp(trapezoidal::log_above(step_, s)) + 1.1e-21 * cut_->sampled(start_)) / sampled.mass;
  return result;
}

std::optional<UnsampledCumulant> RealGrid::unsampled_at(double s) {
  // Above the cut the density falls at least like a normal one around this centre, which is narrower than 1.
  const double tilt = farthest_for(s) - trapezoidal::kTail;
  const double centre = (tilt + cut_->at * (cut_->spread() - 1.0)) / cut_->spread();
  const auto count = points_for(s, std::max(centre, 0.0) + trapezoidal::kTail);
  if (!count) return std::nullopt;
  const TiltSums unsampled =
      tilt_sums({unsampled_.data(), offset_.data(), loss_.data(), roundings_.data(), *count}, s);
  if (!(unsampled.mass > 0.0)) return std::nullopt;
  const double above =
      2.2e-21;  // and below: there the unsampled part is smaller than after the first point
  return UnsampledCumulant{
      std::log(unsampled.mass) + relative_error(*count, s) + 2e-17 / step_.k + above,
      unsampled.first / unsampled.mass};
}

void RealGrid::place(double s) {
  const bool turns_faster = step_.cosine_power(1.0) > 0.0;
  // Room for twice the abscissa that was asked for: a search for a saddle goes to the right, and would place the points anew every time.
  const double design = turns_faster ? std::max(2.0 * s, 4.0) : kInf;
  spacing_ =
      trapezoidal::spacing_for(step_, turns_faster ? design : 0.0, 0.0, cut_ ? cut_->width : kInf);
  designed_for_ = design;
  // The other end is that of s = -1 or s = 0, whichever is farther.
  const double other = step_.direction == StepDirection::add
                           ? trapezoidal::range_of(step_, -1.0).high
                           : -trapezoidal::range_of(step_, -1.0).low;
  start_ = -std::ceil(other / spacing_) * spacing_;
  largest_log_ = 0.0;
  for (auto* v : {&weight_, &sampled_, &unsampled_, &offset_, &loss_, &roundings_}) v->clear();
}

void RealGrid::extend(double farthest) {
  const double side = step_.direction == StepDirection::add ? -1.0 : 1.0;
  const double first = start_ / spacing_;
  for (auto j = static_cast<double>(weight_.size()); (first + j) * spacing_ <= farthest; ++j) {
    const double z = side * (first + j) * spacing_;
    const RatioStep::Loss at = step_.loss_at(z);
    weight_.push_back(std::exp(std::log(spacing_) - 0.5 * z * z - trapezoidal::kLogRootTwoPi));
    if (cut_) {
      sampled_.push_back(weight_.back() * cut_->sampled(z));
      // Both parts are stored, although they add up to the weight: the difference would have no digits where one of them is small.
      unsampled_.push_back(weight_.back() * cut_->unsampled(z));
    }
    offset_.push_back(at.log_density);
    loss_.push_back(at.loss);
    roundings_.push_back(8.0 + 0.5 * z * z);
    largest_log_ = std::max({largest_log_, std::fabs(at.loss), std::fabs(at.log_density)});
  }
}

}  // namespace sfumato
