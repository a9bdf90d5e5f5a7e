#include "sfumato/sde/family/polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "sfumato/core/check.hpp"
#include "sfumato/sde/linear_drift.hpp"

namespace sfumato {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kGap = 1e-9;
constexpr int kMostParts = 200000;

Polynomial trimmed(Polynomial p) {
  while (p.size() > 1 && p.back() == 0.0) p.pop_back();
  return p;
}

/// sum |c_k| r^k: no value in [-r, r] is larger, and the rounding of Horner's rule is below
/// 2 n epsilon of it.
double size_of_terms(const Polynomial& p, double r) {
  double sum = 0.0;
  for (std::size_t k = p.size(); k-- > 0;) sum = sum * r + std::abs(p[k]);
  return sum;
}

double rounding(const Polynomial& p, double r) {
  return 4.0 * static_cast<double>(p.size()) * kEpsilon * size_of_terms(p, r);
}

/// All roots lie in [-r, r] (Cauchy's bound).
double root_radius(const Polynomial& p) {
  double largest = 0.0;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) largest = std::max(largest, std::abs(p[k]));
  return (1.0 + largest / std::abs(p.back())) * (1.0 + 8.0 * kEpsilon);
}

/// Two derivatives are enough: p(x) >= p(m) - |p'(m)| h - h^2/2 max |p''| on [m - h, m + h].
struct Part {
  double low;
  double middle;
  double half;
  friend bool operator<(const Part& a, const Part& b) { return a.low > b.low; }  // least on top
};

}  // namespace

Polynomial derivative(const Polynomial& polynomial) {
  Polynomial result;
  for (std::size_t k = 1; k < polynomial.size(); ++k) {
    result.push_back(static_cast<double>(k) * polynomial[k]);
  }
  return result.empty() ? Polynomial{0.0} : result;
}

double value(const Polynomial& polynomial, double x) {
  double sum = 0.0;
  for (std::size_t k = polynomial.size(); k-- > 0;) sum = sum * x + polynomial[k];
  return sum;
}

double lower_bound(const Polynomial& polynomial) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Polynomial p = trimmed(polynomial);
  if (p.size() == 1) return p[0];
  if (p.size() % 2 == 0 || p.back() < 0.0) return -kInf;
  const Polynomial first = derivative(p);
  const Polynomial second = derivative(first);
  const auto part = [&](double middle, double half) {
    // A little wider than the part, so that rounded end points leave no gaps.
    const double h = half * (1.0 + 4.0 * kEpsilon) + 4.0 * kEpsilon * std::abs(middle);
    const double reach = std::abs(middle) + h;
    const double bend = size_of_terms(second, reach);
    const double low = value(p, middle) - std::abs(value(first, middle)) * h - 0.5 * h * h * bend;
    return Part{
        low - rounding(p, reach) - rounding(first, reach) * h - 4.0 * kEpsilon * std::abs(low),
        middle, half};
  };
  const double radius = root_radius(first);
  if (!std::isfinite(radius)) return -kInf;
  std::priority_queue<Part> parts;
  parts.push(part(0.0, radius));
  double best = p[0];
  double best_at = 0.0;
  for (int count = 0; count < kMostParts; ++count) {
    const Part least = parts.top();
    if (best - least.low <= kGap * size_of_terms(p, std::abs(best_at))) break;
    parts.pop();
    const double half = 0.5 * least.half;
    for (const double middle : {least.middle - half, least.middle + half}) {
      const double here = value(p, middle);
      if (here < best) {
        best = here;
        best_at = middle;
      }
      parts.push(part(middle, half));
    }
  }
  const double low = parts.top().low;
  return std::isnan(low) ? -kInf : low;
}

Diffusion polynomial_diffusion(const Polynomial& drift, double variance) {
  const Where where = Where::here();
  require_positive("variance", variance, where);
  Diffusion diffusion{1, polynomial_drift(drift, where), Isotropic{variance, 1}};
  diffusion.autonomous = true;
  Polynomial curvature = derivative(drift);
  for (double& coefficient : curvature) coefficient = -coefficient;
  const double kappa = lower_bound(curvature);
  if (std::isfinite(kappa)) {
    // In one dimension the metric cancels.
    diffusion.contraction = [kappa](const Covariance& /*metric*/) { return kappa; };
  }
  return diffusion;
}

Diffusion polynomial_potential(const Polynomial& potential, double variance) {
  Polynomial drift = derivative(potential);
  for (double& coefficient : drift) coefficient = -coefficient;
  return polynomial_diffusion(drift, variance);
}

Diffusion double_well(double variance, double shift, double slope) {
  return polynomial_diffusion({shift, 1.0 + slope, 0.0, -1.0}, variance);
}

}  // namespace sfumato
