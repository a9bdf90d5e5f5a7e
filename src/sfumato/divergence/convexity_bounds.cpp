#include "sfumato/divergence/convexity_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/core/check.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/divergence/make_kl_bound.hpp"
#include "sfumato/divergence/upper_integral.hpp"
#include "sfumato/math/special.hpp"

namespace sfumato {
namespace {

const char* const kFinite = "convexity constants, finite time";
const char* const kUniform = "convexity constants, all times";
const char* const kStationary = "convexity constants, invariant distributions";
const char* const kUnequal = "convexity constants, unequal noise";
const char* const kOverflow = "the constants overflow; check their units";

double square(double x) { return x * x; }

void require_convexity(const char* name, const HessianBounds& convexity, const Where& where) {
  require_finite(fmt::format("{}.kappa", name),
                 require_non_negative(fmt::format("{}.kappa", name), convexity.kappa, where),
                 where);
  require_finite(fmt::format("{}.lipschitz", name), convexity.lipschitz, where);
  if (convexity.lipschitz >= convexity.kappa) return;
  throw InvalidArgument(fmt::format("{0}.lipschitz = {1} is below {0}.kappa = {2}", name,
                                    convexity.lipschitz, convexity.kappa),
                        "Give the smallest and the largest curvature, in this order", where);
}

void require_constants(const LangevinConstants& c, const Where& where) {
  require_convexity("f", c.f, where);
  require_convexity("f_prime", c.f_prime, where);
  require_positive("variance", c.variance, where);
  require_positive("variance_prime", c.variance_prime, where);
  require_positive("dimension", static_cast<double>(c.dimension), where);
  require_non_negative("minimiser_distance", c.minimiser_distance, where);
  require_finite("start_distance", require_non_negative("start_distance", c.start_distance, where),
                 where);
  if (c.gradient_at_minimiser) {
    require_non_negative("gradient_at_minimiser", *c.gradient_at_minimiser, where);
  }
  if (c.gap_lipschitz) require_non_negative("gap_lipschitz", *c.gap_lipschitz, where);
}

void require_equal_variances(const LangevinConstants& c, const Where& where) {
  if (c.variance == c.variance_prime) return;
  throw InvalidArgument(
      fmt::format("variance = {} and variance_prime = {} differ", c.variance, c.variance_prime),
      "Use kl_bound_unequal", where);
}

/// L_D of Spec §7.4 (1).
double gap_lipschitz(const LangevinConstants& c) {
  if (c.gap_lipschitz) return *c.gap_lipschitz;
  return std::max({c.f.lipschitz - c.f_prime.kappa, c.f_prime.lipschitz - c.f.kappa, 0.0});
}

/// L_H of Spec §7.5 (1): a Lipschitz constant of grad f' - r grad f.
double scaled_gap_lipschitz(const LangevinConstants& c) {
  if (c.variance == c.variance_prime) return gap_lipschitz(c);
  const double r = c.variance_prime / c.variance;
  return std::max(std::abs(c.f_prime.kappa - r * c.f.lipschitz),
                  std::abs(c.f_prime.lipschitz - r * c.f.kappa));
}

double gradient_gap(const LangevinConstants& c) {
  const double from_distance = product_or_zero(c.f_prime.lipschitz, c.minimiser_distance);
  return c.gradient_at_minimiser ? std::min(*c.gradient_at_minimiser, from_distance)
                                 : from_distance;
}

double noise_trace(const LangevinConstants& c) {
  return static_cast<double>(c.dimension) * c.variance;
}

double distance_at(const LangevinConstants& c, double time) {
  return mean_square_distance_bound(noise_trace(c), c.f.kappa, c.start_distance, time);
}

/// `rate / kappa'`, the limit of a weighted integral whose integrand tends to `rate`.
KlBound limit_bound(double rate, const LangevinConstants& c, const char* method) {
  if (rate == 0.0) return kl_bound(0.0, method);
  if (c.f_prime.kappa == 0.0) {
    return no_bound(method,
                    "the second potential is not strongly convex (kappa' = 0), so nothing "
                    "holds for all times; ask for a finite time");
  }
  if (rate == kInf) {
    return no_bound(method,
                    "the first potential is not strongly convex (kappa = 0), so its distance "
                    "from the minimiser is not bounded; ask for a finite time");
  }
  return kl_bound(rate / c.f_prime.kappa, method);
}

/// Shortest time in which u_s changes: its own rate, or u_0 against the noise.
double time_scale(const LangevinConstants& c) {
  const double relaxation = c.f.kappa > 0.0 ? 0.5 / c.f.kappa : kInf;
  return c.start_distance > 0.0 ? std::min(relaxation, c.start_distance / noise_trace(c))
                                : relaxation;
}

double memory(const LangevinConstants& c) {
  return c.f_prime.kappa > 0.0 ? 1.0 / c.f_prime.kappa : kInf;
}

}  // namespace

double lsi_constant(double variance, double kappa, double start_constant, double time) {
  require_non_negative("variance", variance);
  require_finite("kappa", require_non_negative("kappa", kappa));
  require_non_negative("start_constant", start_constant);
  require_non_negative("time", time);
  return product_or_zero(2.0 * variance, phi1(2.0 * kappa, time)) +
         product_or_zero(decay(2.0 * kappa, time), start_constant);
}

double mean_square_distance_bound(double trace, double kappa, double start_distance, double time) {
  require_non_negative("noise_trace", trace);
  require_finite("kappa", require_non_negative("kappa", kappa));
  require_non_negative("start_distance", start_distance);
  require_non_negative("time", time);
  return product_or_zero(decay(2.0 * kappa, time), start_distance) +
         product_or_zero(trace, phi1(2.0 * kappa, time));
}

KlBound kl_bound_finite_time(const LangevinConstants& c, double time) {
  const Where where = Where::here();
  require_constants(c, where);
  require_equal_variances(c, where);
  require_non_negative("time", time, where);
  const double lipschitz = gap_lipschitz(c);
  const double gradient = gradient_gap(c);
  const auto gap = [&](double s) {
    return square(product_or_zero(lipschitz, std::sqrt(distance_at(c, s))) + gradient) / c.variance;
  };
  if (time == kInf) return limit_bound(gap(kInf), c, kFinite);
  const double kappa = c.f_prime.kappa;
  const auto integrand = [&](double s, double left) { return std::exp(-kappa * left) * gap(s); };
  const double integral = upper_integral(integrand, time, {time_scale(c), memory(c)});
  return finite_kl_bound(integral / (1.0 + std::exp(-kappa * time)), kFinite, kOverflow);
}

KlBound kl_bound_uniform(const LangevinConstants& c) {
  const Where where = Where::here();
  require_constants(c, where);
  require_equal_variances(c, where);
  const double farthest = std::max(c.start_distance, distance_at(c, kInf));
  const double gap = product_or_zero(gap_lipschitz(c), std::sqrt(farthest)) + gradient_gap(c);
  return limit_bound(square(gap) / c.variance, c, kUniform);
}

KlBound kl_bound_stationary(const LangevinConstants& c) {
  require_constants(c, Where::here());
  const double distance = c.f.kappa > 0.0 ? noise_trace(c) / (2.0 * c.f.kappa) : kInf;
  const double gap =
      product_or_zero(scaled_gap_lipschitz(c), std::sqrt(distance)) + gradient_gap(c);
  return limit_bound(square(gap) / c.variance_prime, c, kStationary);
}

KlBound kl_bound_unequal(const LangevinConstants& c, const SmoothStart& start, double time) {
  const Where where = Where::here();
  require_constants(c, where);
  require_non_negative("fisher_information", start.fisher_information, where);
  require_non_negative("lsi_constant", start.lsi_constant, where);
  require_non_negative("time", time, where);
  const double noise_gap = 0.5 * std::abs(c.variance_prime - c.variance);
  if (noise_gap > 0.0 && start.fisher_information == kInf) {
    return no_bound(kUnequal,
                    "the start has infinite Fisher information (a point) and the noise "
                    "differs; start from a distribution with a density");
  }
  if (start.lsi_constant == kInf) {
    return no_bound(kUnequal,
                    "the start has no log-Sobolev constant; start from a normal distribution");
  }
  const double information =
      product_or_zero(noise_gap, std::sqrt(start.fisher_information)) +
      noise_gap * (2.0 * c.f.lipschitz / c.variance) * std::sqrt(c.start_distance);
  const double lipschitz = scaled_gap_lipschitz(c);
  const double gradient = gradient_gap(c);
  const auto psi = [&](double s) {
    return decay(c.f.kappa, s) * information +
           product_or_zero(lipschitz, std::sqrt(distance_at(c, s))) + gradient;
  };
  if (time == kInf) return limit_bound(square(psi(kInf)) / c.variance_prime, c, kUnequal);
  const double kappa = c.f_prime.kappa;
  const auto constant = [&](double s) {
    return lsi_constant(c.variance_prime, kappa, start.lsi_constant, s);
  };
  const double at_end = constant(time);
  const auto integrand = [&](double s, double left) {
    return square(psi(s)) * std::exp(-kappa * left) * std::sqrt(constant(s) / at_end);
  };
  double scale = std::min(time_scale(c), memory(c));
  if (start.lsi_constant > 0.0) {
    scale = std::min(scale, start.lsi_constant / (2.0 * c.variance_prime));
  }
  const double value =
      time == 0.0 ? 0.0 : upper_integral(integrand, time, {scale, memory(c)}) / c.variance_prime;
  return finite_kl_bound(value, kUnequal, kOverflow);
}

}  // namespace sfumato
