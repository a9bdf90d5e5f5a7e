#pragma once

#include <cstdint>

namespace sfumato {

/// A mean over independent repetitions and its standard error; both +inf when one of them diverged.
struct MonteCarloMean {
  double value;
  double standard_error;
};

struct ConfidenceInterval {
  double low, high;
};

/// value +- z standard_error with the normal quantile z. An approximation for many repetitions, and no
/// guarantee: nothing bounds the integrands (Spec §12.1).
/// Throws   InvalidArgument if confidence is not in (0, 1).
[[nodiscard]] ConfidenceInterval interval(const MonteCarloMean& mean, double confidence);

/// An upper confidence bound on the expectation of values that lie in an interval of length `range` (Maurer and Pontil
/// 2009; Spec §27.8 (1)), at any number n >= 2 of repetitions: false with probability alpha at most.
///
///   mean + sd sqrt(2 log(2/alpha) / n) + 7 range log(2/alpha) / (3 (n - 1))
///
/// Throws   InvalidArgument for fewer than two repetitions, a range or spread that is negative or not finite, or alpha
///          outside (0, 1).
[[nodiscard]] double empirical_bernstein(double mean, double standard_deviation,
                                         std::uint64_t repetitions, double range, double alpha);

/// Mean and spread of values that arrive one by one or in groups, without cancellation. The result
/// depends on the order only by rounding; merge groups in a fixed order for the same bits.
class Moments {
 public:
  /// A value that is not finite is counted apart.
  void add(double value);
  void merge(const Moments& other);

  [[nodiscard]] std::uint64_t count() const { return count_ + not_finite_; }
  [[nodiscard]] std::uint64_t not_finite() const { return not_finite_; }
  /// +inf for both if a value was not finite; the standard error of fewer than two is +inf.
  [[nodiscard]] MonteCarloMean mean() const;

 private:
  std::uint64_t count_ = 0;
  std::uint64_t not_finite_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;  ///< sum of (value - mean)^2
};

}  // namespace sfumato
