#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

#include "sfumato/account/contour/real_grid.hpp"
#include "sfumato/account/steps/sampled_gaussian.hpp"

namespace sfumato {

/// Where s = x + iy may be, x > 0 and y >= 0: within a triangle.
struct TransformArea {
  std::array<std::complex<double>, 3> corners;
};

/// M(s) = E_z r(z)^{1+s} of sampled steps in the direction `remove`, anywhere in the right half of the plane of s, on lines z = (t + ic) e^{i beta}
/// (Spec §18.10): the farther s is away from the real axis, the more z is rotated, so that neither the rest nor the sampled steps grow.
class RotatedStep {
 public:
  /// For q <= 1/2.
  explicit RotatedStep(const SampledGaussian& step);

  [[nodiscard]] double k() const { return step_.k; }
  /// The loss of a step without a sampled step, -log(1 - q), at most.
  [[nodiscard]] double unsampled_loss() const;
  /// The largest beta: the line stays clear of the zeros of r.
  [[nodiscard]] double widest() const { return lines_.back().beta; }

  /// log M(x), at most.
  [[nodiscard]] double log_moment(double x);

  /// At least log |M(s)| + (1 + x) unsampled_loss() on the rest of a hyperbola with asymptotes of the angle psi, beyond the point (x, y); +inf where
  /// that is not known.
  [[nodiscard]] double log_rest(double x, double y, double psi) const;

  /// Areas that will be asked about; each is left to the line on which the integrand is least. False where a line
  /// would be too long.
  [[nodiscard]] bool choose_lines(const std::vector<TransformArea>& areas);

  /// log |M| on an area, at most, without a value of M; and |M'|, at most.
  struct Bound {
    double log_modulus, slope;
  };
  [[nodiscard]] Bound bound(const TransformArea& area, std::size_t index);

  /// Makes the points of the lines, good for these areas. False where they are too many.
  [[nodiscard]] bool place(const std::vector<TransformArea>& areas,
                           const std::vector<std::size_t>& used);

  /// M(s) - 1, and by how much it may be off, for an s in the area with that index.
  struct Value {
    std::complex<double> change;
    double error;
  };
  [[nodiscard]] Value at(std::complex<double> s, std::size_t index) const;

 private:
  /// The line z = (t + i c) e^{i beta}, cut into cells: in each, bounds of the factors of phi r^{1+s}.
  struct Cells {
    double beta, c;
    std::vector<double> log_weight;  ///< of |phi|, times the length
    std::vector<double> up, turn;    ///< log |r| at most, arg r at least
    std::vector<double> size;        ///< |log r| at most
    double left = 0.0, last = 0.0;   ///< t of the ends
  };
  struct Mass {
    double log_mass;  ///< of the integral of |phi r^{1+s}|
    double slope;     ///< the integral of |phi r^{1+s} log r|
    double from_one;  ///< the integral of |phi log r| max(1, |r^{1+s}|)
    double exponent;  ///< the largest log |r^{1+s}|
  };
  struct Line {
    double beta, offset,
        c;  ///< rotated, and then raised; the rule uses the strip of the half-width c around it
    double last = 0.0;  ///< the largest t
    double spacing = 0.0;
    Cells own, above, below;
    std::vector<double> weight_re, weight_im, weight, log_re, log_im, weight_error, log_error;
  };

  [[nodiscard]] Cells cells_of(double beta, double c, double last) const;
  [[nodiscard]] Mass mass_on(const Cells& cells, const TransformArea& area) const;
  [[nodiscard]] double left_of(const Cells& cells, const TransformArea& area) const;
  [[nodiscard]] double log_tail(const Cells& cells, const TransformArea& area, double* decay) const;
  [[nodiscard]] double log_sampled(double beta, double p, double y) const;
  void add_points(Line* line) const;

  SampledGaussian step_;
  double miss_, log_q_, zero_;  ///< 1 - q, log q, and the real part of the zeros of r
  RealGrid grid_;
  std::vector<Line> lines_;
  std::vector<std::size_t> line_of_;  ///< of each area
  std::vector<double>
      rule_error_;  ///< of each area that is used: what the rule and the ends are off by
};

}  // namespace sfumato
