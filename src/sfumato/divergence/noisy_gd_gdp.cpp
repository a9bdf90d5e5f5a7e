#include "sfumato/divergence/noisy_gd_gdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

/// (1+c)/(1-c) (1-c^k)/(1+c^k), between 1 and k; c <= 1.
double effective_steps(double c, double steps) {
  if (steps == 0.0 || c == 0.0) return std::min(steps, 1.0);
  if (c >= 1.0) return steps;
  const double log_power = steps * std::log(c);
  return std::min(steps,
                  (1.0 + c) / (1.0 - c) * -std::expm1(log_power) / (1.0 + std::exp(log_power)));
}

}  // namespace

GdpBound noisy_gd_gdp(double sensitivity, double lipschitz, double steps) {
  require_non_negative("sensitivity", sensitivity);
  require_non_negative("lipschitz", lipschitz);
  require_non_negative("steps", steps);
  if (std::isfinite(steps) && steps != std::floor(steps)) {
    throw InvalidArgument(fmt::format("steps = {} is not a whole number", steps),
                          "Count the steps, or pass infinity");
  }
  const double mu = sensitivity == 0.0 || steps == 0.0
                        ? 0.0
                        : sensitivity * std::sqrt(effective_steps(std::min(lipschitz, 1.0), steps));
  std::vector<std::string> assumptions = {
      "the steps differ by at most the sensitivity at every point; full batch"};
  if (lipschitz < 1.0) {
    assumptions.emplace_back(
        "one of the steps is Lipschitz with the given constant on the whole space");
  } else if (lipschitz > 1.0) {
    assumptions.push_back(fmt::format(
        "the steps are not contractive (constant {:.6g}); constant 1 is used, the composition of "
        "all steps",
        lipschitz));
  }
  return gdp_bound(mu, "uniform sensitivity of the last iterate", std::move(assumptions));
}

}  // namespace sfumato
