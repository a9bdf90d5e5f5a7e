#include "sfumato/divergence/gdp.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/gaussian_tradeoff.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// Phi(x + h) - Phi(x - h) for small h without subtracting nearly equal numbers. The integral runs
/// over [-1, 1]: x + h and x - h would round away the digits of h.
double normal_mass(double x, double h) {
  constexpr double inverse_root_two_pi = 0.39894228040143267794;
  const auto density = [x, h](double t) {
    const double z = x + h * t;
    return inverse_root_two_pi * std::exp(-0.5 * z * z);
  };
  return h * boost::math::quadrature::gauss<double, 7>::integrate(density, -1.0, 1.0);
}

/// log of int_0^inf e^{-t - t^2 / (2 x^2)} (1 - e^{-r t}) dt for x >= 1, 0 < r <= 1: every term is positive.
double log_gap_integral(double x, double r) {
  const auto f = [x, r](double t) {
    return std::exp(-t - 0.5 * (t / x) * (t / x)) * -std::expm1(-r * t);
  };
  double sum = 0.0;
  for (const auto& [from, to] :
       {std::pair{0.0, 2.0}, {2.0, 6.0}, {6.0, 14.0}, {14.0, 26.0}, {26.0, 45.0}}) {
    sum += boost::math::quadrature::gauss<double, 20>::integrate(f, from, to);
  }
  return std::log(sum);
}

}  // namespace

GdpDelta gdp_delta(double mu, double eps) {
  require_non_negative("mu", mu);
  if (std::isnan(eps)) {
    throw InvalidArgument("eps is not a number", "Pass a threshold on the log ratio");
  }
  const double floor = std::max(0.0, -std::expm1(eps));
  if (mu == 0.0) return {floor, std::log(floor), eps < 0.0 ? 0.0 : -kInf};
  if (mu == kInf) return {1.0, 0.0, -kInf};
  const double centre = -eps / mu;
  const double log_p = log_normal_cdf(centre + 0.5 * mu);
  const double log_tail_q = log_normal_cdf(centre - 0.5 * mu);
  // With mu small both terms agree in their leading digits. The integral form keeps them while the
  // remaining subtraction is mild (it loses a factor centre^2).
  if (mu < 0.1 && centre > -5.0) {
    const double mass = normal_mass(centre, 0.5 * mu);
    const double delta = std::max(floor, mass - std::expm1(eps) * normal_cdf(centre - 0.5 * mu));
    return {delta, std::log(delta), log_tail_q};
  }
  // Far out the two terms agree in even more digits. With Mills' ratio R, delta = phi(x) (R(x) - R(x + mu)), and
  // R(x) = int_0^inf e^{-x t - t^2/2} dt.
  const double x = -centre - 0.5 * mu;
  if (x >= 1.0 && mu <= x) {
    constexpr double log_root_two_pi = 0.91893853320467274178;
    const double log_far =
        -0.5 * x * x - log_root_two_pi - std::log(x) + log_gap_integral(x, mu / x);
    return {std::exp(log_far), log_far, log_tail_q};
  }
  const double log_delta = log_sub_exp(log_p, std::min(eps + log_tail_q, log_p));
  return {std::min(1.0, std::max(floor, std::exp(log_delta))), std::min(0.0, log_delta),
          log_tail_q};
}

Epsilon gdp_epsilon(double mu, Delta delta) {
  return gaussian_epsilon(shifted_normals(mu), delta).value;
}

}  // namespace sfumato
