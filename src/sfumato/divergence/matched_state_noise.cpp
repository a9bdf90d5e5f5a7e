#include "sfumato/divergence/matched_state_noise.hpp"

#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/formula_range.hpp"
#include "sfumato/math/interval_arithmetic.hpp"

namespace sfumato {

StateNoiseRate state_noise_rate(const DriftFormulas& p, const DriftFormulas& q, double noise,
                                const Expression& noise_prime,
                                const GaussianDistribution& distribution) {
  require_size("the drift", p.dimension(), 1);
  require_size("the second drift", q.dimension(), 1);
  require_positive("noise", noise);
  const double mean = distribution.mean(0);
  const double variance = require_positive("variance", dense(distribution.covariance)(0, 0));
  const Expression slope = noise_prime.derivative(0);
  const Expression bend = slope.derivative(0);

  FormulaRange algebra;
  const std::vector<Interval> line = {all_numbers(), {0.0, kInf}};
  const FormulaRange::Sum second = algebra.sum_of(noise_prime);
  if (!(algebra.range(second, line).lower > 0.0)) {
    throw NumericalFailure("the second noise is not proven to be positive for all x",
                           "Write it so that it is bounded away from 0",
                           Where::here("matched process"));
  }
  // M^2 N = (Sigma' - Sigma)^2 / (4 Sigma').
  const FormulaRange::Sum gap = FormulaRange::add(second, algebra.constant(just(noise)), -1.0);
  const FormulaRange::Sum weight =
      FormulaRange::multiply(FormulaRange::multiply(gap, gap), algebra.reciprocal(second));
  const double largest = 0.25 * algebra.range(weight, line).upper;

  const auto integrand = [&](double z) -> std::array<double, 2> {
    const double x = mean + std::sqrt(variance) * z;
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, x);
    const std::vector<double> values = {x, 0.0};
    const double s = noise_prime.at(values), s1 = slope.at(values), s2 = bend.at(values);
    const double c = p.at(0.0, at)(0) - q.at(0.0, at)(0) + 0.5 * s1;
    const double c1 = p.jacobian_at(0.0, at)(0, 0) - q.jacobian_at(0.0, at)(0, 0) + 0.5 * s2;
    const double mn = 0.5 * (s - noise) / s;
    const double mn1 = 0.5 * noise * s1 / (s * s);
    const double score = z / std::sqrt(variance);
    const double m = 0.5 * (s - noise);
    return {c * c / s - 2.0 * (mn1 * c + mn * c1), m * m / s * score * score};
  };
  StateNoiseRate result{0.0, 0.0, largest / variance};
  constexpr double kStep = 1.0 / 64.0;
  constexpr int kNodes = 14 * 64;  // e^{-14^2/2} is 1e-43
  double total = 0.0;
  for (int i = -kNodes; i <= kNodes; ++i) {
    const double z = kStep * i;
    const double density = std::exp(-0.5 * z * z);
    const auto [drift, fisher] = integrand(z);
    total += density;
    result.drift_part += density * drift;
    result.fisher_part += density * fisher;
  }
  result.drift_part /= total;
  result.fisher_part /= total;
  return result;
}

}  // namespace sfumato
