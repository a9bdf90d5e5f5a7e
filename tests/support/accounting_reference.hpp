#pragma once

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "sfumato/account/steps/step.hpp"

/// delta(eps) of composed steps in 50 digits: closed forms of one step, one integral for two, and for many the contour integral of
/// Spec §17.4 by brute force. Nothing is shared with the library but the names of the directions.
namespace sfumato::reference {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                           boost::multiprecision::et_off>;

inline Real tail(const Real& x) { return boost::math::erfc(Real(x / sqrt(Real(2)))) / 2; }
inline Real density(const Real& z) {
  return exp(-z * z / 2) / sqrt(2 * boost::math::constants::pi<Real>());
}
inline Real log_r(double q, double m, const Real& z) {
  return log((1 - Real(q)) + Real(q) * exp(Real(m) * z - Real(m) * m / 2));
}

/// Spec §17.6, in one direction.
inline Real one_step_delta(double q_of, double m_of, StepDirection direction, const Real& eps) {
  const Real q(q_of), m(m_of), e = exp(eps);
  if (direction == StepDirection::remove) {
    if (e <= 1 - q) return 1 - e;
    const Real z = log(1 + (e - 1) / q) / m + m / 2;
    return q * tail(z - m) - (q + e - 1) * tail(z);
  }
  const Real ratio = 1 + (1 / e - 1) / q;
  if (ratio <= 0) return 0;
  const Real z = log(ratio) / m + m / 2;
  return (1 - e) * tail(-z) + e * q * (tail(-z) - tail(m - z));
}

/// delta_2(eps) = E_P delta_1(eps - L), by Gauss-Legendre's rule on panels that become short where delta_1 reaches an end of the losses: it
/// has all derivatives there, and bends within q / L' (the trapezoidal rule with steps of 1/64 is off by 1e-5 at q = .005, m = 2).
/// Good where it is above 1e-40.
inline Real two_step_delta(double q, double m, StepDirection direction, double eps) {
  const bool removes = direction == StepDirection::remove;
  const auto integrand = [&](const Real& z) {
    const Real l = log_r(q, m, z);
    const Real weight = removes ? Real(density(z) * exp(l)) : density(z);
    return Real(weight * one_step_delta(q, m, direction, Real(eps) - (removes ? l : Real(-l))));
  };
  // There r = e^eps / (1 - q), or 1 / (e^eps (1 - q)).
  const Real end =
      removes ? Real(exp(Real(eps)) / (1 - Real(q))) : Real(1 / (exp(Real(eps)) * (1 - Real(q))));
  const double bend = static_cast<double>(log((end - (1 - Real(q))) / q)) / m + 0.5 * m;
  std::vector<double> edges;
  for (double z = -16.0; z <= 16.0 + m; z += 1.0) {
    if (!(std::fabs(z - bend) < 1.0)) edges.push_back(z);
  }
  edges.push_back(16.0 + m);
  for (double away = 1.0; away > 1e-6; away *= 0.5) {
    for (const double z : {bend - away, bend + away}) {
      if (z > -16.0 && z < 16.0 + m) edges.push_back(z);
    }
  }
  std::sort(edges.begin(), edges.end());
  Real sum = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!(edges[i] > edges[i - 1])) continue;
    sum += boost::math::quadrature::gauss<Real, 20>::integrate(integrand, Real(edges[i - 1]),
                                                               Real(edges[i]));
  }
  return sum;
}

/// Points (A_j, L_j) of a step tilted at s0: any distribution on a grid, with its log M(s0).
struct Distribution {
  std::vector<Real> weight, loss;
  Real log_moment;
  double k;
};

/// A step of SampledGaussian kind (g = 1) or GroupGaussian kind on a grid that is finer than any theorem asks for.
inline Distribution distribution_of(double q, double m, int g, double k, StepDirection direction,
                                    double s0, double spacing) {
  const auto log_ratio = [&](const Real& z) {
    if (g == 1) return log_r(q, m, z);
    Real sum = 0, binomial = 1;
    for (int j = 0; j <= g; ++j) {
      sum += binomial * pow(Real(q), j) * pow(1 - Real(q), g - j) *
             exp(j * Real(m) * z - Real(j) * j * m * m / 2);
      binomial = binomial * (g - j) / (j + 1);
    }
    return Real(log(sum));
  };
  Distribution distribution;
  distribution.k = k;
  // Whole multiples of a power of two: the points are exact.
  const double reach = std::ceil(15.0 + g * m * (1.0 + 2.0 * std::fabs(s0)));
  Real total = 0;
  for (double z = -reach; z <= reach; z += spacing) {
    const Real l = log_ratio(Real(z));
    Real loss = l, log_p = l;
    if (direction == StepDirection::add) {
      loss = -l;
      log_p = 0;
    } else if (direction == StepDirection::replace) {
      loss = l - log_ratio(Real(-z));
    }
    const Real weight = spacing * density(Real(z)) * exp(log_p + s0 * loss);
    distribution.weight.push_back(weight);
    distribution.loss.push_back(loss);
    total += weight;
  }
  for (Real& w : distribution.weight) w /= total;
  distribution.log_moment = log(total);
  return distribution;
}

/// The integral of the right strip at s0 with the step h, until 60 terms in a row are below 1e-26 of the first. e^{i h L} is turned from
/// row to row: in 50 digits nothing is lost.
inline Real contour_log_delta(const std::vector<Distribution>& distributions, double mu_squared,
                              double s0, double h, double eps) {
  const Real pi = boost::math::constants::pi<Real>();
  struct Turn {
    std::vector<Real> c, s, dc, ds;
  };
  std::vector<Turn> turns;
  Real log_scale = Real(mu_squared) * s0 * (s0 + 1) / 2 - Real(s0) * eps;
  for (const Distribution& distribution : distributions) {
    log_scale += distribution.k * distribution.log_moment;
    Turn t;
    for (const Real& l : distribution.loss) {
      t.c.push_back(1);
      t.s.push_back(0);
      t.dc.push_back(cos(h * l));
      t.ds.push_back(sin(h * l));
    }
    turns.push_back(std::move(t));
  }
  Real sum = 0;
  int small = 0;
  for (int n = 0; small < 60 && n < 20000; ++n) {
    const Real y = Real(h) * n;
    Real log_modulus = -Real(mu_squared) * y * y / 2;
    Real phase = (Real(mu_squared) * (Real(s0) + Real(0.5)) - eps) * y;
    for (std::size_t i = 0; i < distributions.size(); ++i) {
      Real re = 0, im = 0;
      Turn& t = turns[i];
      for (std::size_t j = 0; j < t.c.size(); ++j) {
        re += distributions[i].weight[j] * t.c[j];
        im += distributions[i].weight[j] * t.s[j];
        const Real c = t.c[j] * t.dc[j] - t.s[j] * t.ds[j];
        t.s[j] = t.s[j] * t.dc[j] + t.c[j] * t.ds[j];
        t.c[j] = c;
      }
      log_modulus += distributions[i].k * log(re * re + im * im) / 2;
      phase += distributions[i].k * atan2(im, re);
    }
    // 1 / (s (s + 1))
    const Real a = Real(s0) * (s0 + 1) - y * y, b = y * (2 * Real(s0) + 1);
    const Real modulus = exp(log_modulus) / (a * a + b * b);
    const Real term = modulus * (a * cos(phase) + b * sin(phase));
    sum += n == 0 ? Real(term / 2) : term;
    small = exp(log_modulus) / sqrt(a * a + b * b) < 1e-26 ? small + 1 : 0;
  }
  return log_scale + log(Real(h) / pi * sum);
}

}  // namespace sfumato::reference
