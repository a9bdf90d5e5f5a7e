#include "sfumato/divergence/monte_carlo.hpp"

#include <fmt/format.h>

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {

ConfidenceInterval interval(const MonteCarloMean& mean, double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass 0.95, say");
  }
  const double z = std::sqrt(2.0) * boost::math::erf_inv(confidence);
  if (!std::isfinite(mean.value)) return {mean.value, mean.value};
  return {mean.value - z * mean.standard_error, mean.value + z * mean.standard_error};
}

double empirical_bernstein(double mean, double standard_deviation, std::uint64_t repetitions,
                           double range, double alpha) {
  require_finite("range", require_non_negative("range", range));
  require_finite("standard_deviation",
                 require_non_negative("standard_deviation", standard_deviation));
  if (repetitions < 2) throw InvalidArgument("there are fewer than two repetitions", "Take more");
  if (!(alpha > 0.0 && alpha < 1.0)) {
    throw InvalidArgument(fmt::format("alpha = {} is not between 0 and 1", alpha),
                          "Pass 0.05, say");
  }
  const double log_term = std::log(2.0 / alpha);
  const auto n = static_cast<double>(repetitions);
  return mean + standard_deviation * std::sqrt(2.0 * log_term / n) +
         7.0 * range * log_term / (3.0 * (n - 1.0));
}

void Moments::add(double value) {
  if (!std::isfinite(value)) {
    ++not_finite_;
    return;
  }
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

void Moments::merge(const Moments& other) {
  not_finite_ += other.not_finite_;
  if (other.count_ == 0) return;
  if (count_ == 0) {  // below, the square of a large mean would overflow and be multiplied by 0
    count_ = other.count_;
    mean_ = other.mean_;
    squares_ = other.squares_;
    return;
  }
  const double total = static_cast<double>(count_ + other.count_);
  const double share = static_cast<double>(other.count_) / total;
  const double gap = other.mean_ - mean_;
  mean_ += gap * share;
  squares_ += other.squares_ + gap * gap * share * static_cast<double>(count_);
  count_ += other.count_;
}

MonteCarloMean Moments::mean() const {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (not_finite_ != 0 || count_ == 0) return {kInf, kInf};
  const double n = static_cast<double>(count_);
  return {mean_, count_ < 2 ? kInf : std::sqrt(squares_ / ((n - 1.0) * n))};
}

}  // namespace sfumato
