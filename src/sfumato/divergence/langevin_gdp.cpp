#include "sfumato/divergence/langevin_gdp.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

/// (2/kappa) tanh(kappa t/2), at most t.
double effective_time(double kappa, double time) {
  const double x = 0.5 * kappa * time;
  if (!(x > 1e-8)) return time;  // tanh(x)/x = 1 - x^2/3, and t is an upper bound
  return std::tanh(x) * 2.0 / kappa;
}

}  // namespace

GdpBound langevin_gdp(double sensitivity, double kappa, double time) {
  require_non_negative("sensitivity", sensitivity);
  require_finite("kappa", kappa);
  require_non_negative("time", time);
  const double mu = sensitivity == 0.0 || time == 0.0
                        ? 0.0
                        : sensitivity * std::sqrt(effective_time(std::max(kappa, 0.0), time));
  GdpBound bound{{mu,
                  Claim::upper_bound,
                  "uniform sensitivity of the flow",
                  {"the drifts differ by at most the sensitivity at every point"}},
                 {Nats{0.5 * mu * mu}, Claim::upper_bound, "mu^2 / 2"}};
  if (kappa > 0.0) {
    bound.mu.assumptions.emplace_back(
        "one of the drifts contracts at the given rate on the whole space");
  } else if (kappa < 0.0) {
    bound.mu.assumptions.push_back(
        fmt::format("the drifts are not contractive (rate {:.6g}); rate 0 is used", kappa));
  }
  bound.kl.assumptions = bound.mu.assumptions;
  return bound;
}

}  // namespace sfumato
