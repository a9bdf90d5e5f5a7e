#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

namespace sfumato {

/// K(s) = log of the transform E e^{sT} of a positive measure at a real s, with its derivatives, and by how much K may be off.
struct TotalCumulant {
  double value, mean, variance;
  double error;
};

/// How much may be spent on one delta: points of distributions that are computed one by one, and terms of sums over contours. What is spent is
/// subtracted; the first costs about 30 ns each, the second 1 ns.
struct Work {
  double points = 2e5;
  double terms = 1e7;
};

/// The transform of a positive measure of losses, as a contour needs it (Spec §18.2, §18.5): its logarithm on the real axis, its
/// values on a line Re s = s0, and what it can be beyond them.
class Transform {
 public:
  virtual ~Transform() = default;

  /// s > -1; +inf where that cannot be computed.
  [[nodiscard]] virtual TotalCumulant at(double s) = 0;

  /// The largest abscissa that is tried: beyond it the tilted distributions are far out.
  [[nodiscard]] virtual double highest_abscissa() const = 0;

  /// Chooses the line Re s = s0.
  virtual void set_abscissa(double s0) = 0;

  /// log of what the values on the line are in units of.
  [[nodiscard]] double log_unit() const { return log_unit_; }

  /// The most that log |transform / unit| is on the line for |y| >= reach; no better one is looked for once it is below `enough`.
  [[nodiscard]] virtual double log_beyond(double reach, double enough) = 0;

  /// The places y_n = 2 pi n / period, n < count, on a line.
  struct Rows {
    double period, count;
    [[nodiscard]] double step() const { return 2.0 * std::numbers::pi / period; }
    [[nodiscard]] double reach() const { return step() * (count - 1.0); }
    [[nodiscard]] static Rows until(double reach, double period) {
      return {period, std::ceil(reach * period / (2.0 * std::numbers::pi)) + 1.0};
    }
  };

  /// About how many terms the values in these rows take.
  [[nodiscard]] virtual double terms_for(const Rows& rows) = 0;

  /// Makes what value() needs; false where the work does not allow it.
  [[nodiscard]] virtual bool prepare(const Rows& rows) = 0;

  /// The transform at s0 + i y_n over the unit, as a logarithm, and by how much it may be off.
  struct Value {
    std::complex<double> log;
    double error;
  };
  [[nodiscard]] virtual Value value(std::size_t n) const = 0;

 protected:
  /// For steps beside a normal loss of E e^{sT} = e^{mu_squared s (s+1) / 2}.
  Transform(double mu_squared, Work* work) : mu_squared_(mu_squared), work_(work) {}

  double mu_squared_;
  Work* work_;
  double s0_ = 0.0, log_unit_ = 0.0;
  double step_ = 0.0;  ///< of the rows
};

}  // namespace sfumato
