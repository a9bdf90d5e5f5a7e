#include "sfumato/divergence/radial_distribution.hpp"

#include <algorithm>
#include <cmath>

#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr int kPieces = 2;           // of each shell
constexpr double kUp = 1.0 + 1e-10;  // over the rounding of the logarithms, sums and exponentials

/// (e^y - 1)/y.
double growth(double y) { return std::abs(y) < 1e-8 ? 1.0 + 0.5 * y : std::expm1(y) / y; }

/// Logarithms of bounds on the mass of one shell.
struct Mass {
  double lower;
  double upper;
};

/// log(e^a + e^b).
double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == -kInf ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

}  // namespace

RadialTails radial_tails(int dimension, double slope, const std::vector<double>& radii,
                         const std::vector<double>& curvature) {
  const double d = dimension;
  std::vector<Mass> masses;
  masses.reserve(radii.size());
  double from = 0.0;
  double psi = 0.0;            // Psi(from)
  double derivative = -slope;  // Psi'(from)
  for (std::size_t k = 0; k < radii.size(); ++k) {
    const double m = curvature[k];
    const auto exponent = [&](double x) {
      const double step = x - from;
      return psi + step * (derivative + 0.5 * m * step);
    };
    const auto log_density = [&](double x) {
      return (dimension > 1 ? (d - 1.0) * std::log(x) : 0.0) - exponent(x);
    };
    Mass shell{-kInf, -kInf};
    const double width = (radii[k] - from) / kPieces;
    for (int piece = 0; piece < kPieces; ++piece) {
      const double a = from + piece * width;
      const double b = a + width;
      Mass mass{};
      if (a == 0.0) {  // Psi is convex, at most its larger end and at least -slope b
        const double volume = d * std::log(b) - std::log(d);
        mass = {volume - std::max(0.0, exponent(b)), volume + slope * b};
      } else {
        const double first = log_density(a);
        const double rise = log_density(b) - first;
        const double middle = 0.5 * (a + b);
        const double tangent = (d - 1.0) / middle - derivative - m * (middle - from);
        const double half = 0.5 * tangent * width;
        mass = {first + std::log(width) +
                    (rise > 0.0 ? rise + std::log(growth(-rise)) : std::log(growth(rise))),
                log_density(middle) + std::log(width) + std::abs(half) +
                    std::log(growth(-2.0 * std::abs(half)))};
      }
      shell = {log_add(shell.lower, mass.lower), log_add(shell.upper, mass.upper)};
    }
    masses.push_back(shell);
    psi = exponent(radii[k]);
    derivative += m * (radii[k] - from);
    from = radii[k];
  }
  RadialTails tails{std::vector<double>(radii.size(), 1.0), kInf};
  // Beyond, x^{d+1} e^{-Psi} falls at least at this rate.
  const double rate = derivative - (d + 1.0) / from;
  double inner = -kInf;
  for (const Mass& mass : masses) inner = log_add(inner, mass.lower);
  double outer = rate > 0.0 ? (d - 1.0) * std::log(from) - psi - std::log(rate) : kInf;
  if (outer < kInf) tails.outer = std::exp(outer - inner) * kUp;
  // From outside: bounds on the mass beyond, and on that within, of each radius.
  std::vector<double> within(radii.size(), -kInf);
  double sum = -kInf;
  for (std::size_t k = 0; k < radii.size(); ++k) within[k] = sum = log_add(sum, masses[k].lower);
  for (std::size_t k = radii.size(); k-- > 0;) {
    if (outer < kInf) {
      tails.beyond[k] = std::min(1.0, std::exp(outer - log_add(within[k], outer)) * kUp);
    }
    outer = log_add(outer, masses[k].upper);
  }
  return tails;
}

}  // namespace sfumato
