#include "sfumato/audit/one_run_gdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/audit/largest_refuted.hpp"
#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/one_run_assumptions.hpp"
#include "sfumato/audit/one_run_fdp.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

bool refuted(const CanaryGuesses& guesses, double mu, double alpha) {
  if (one_run_curve_refutes_gdp(guesses, mu, alpha)) return true;
  // delta_mu(eps) matters between mu^2/2, the mean of the loss, and some standard deviations above;
  // beyond, more eps only loses. A coarse search costs power, never validity.
  constexpr int kSteps = 64;
  const double high = 0.5 * mu * mu + 9.0 * mu;
  for (int i = 0; i <= kSteps; ++i) {
    const double eps = high * i / kSteps;
    const double expected = static_cast<double>(guesses.guesses) / (1.0 + std::exp(-eps));
    if (static_cast<double>(guesses.correct) < expected) return false;  // nor at any larger eps
    // gdp_delta has relative accuracy 1e-10.
    const double delta = std::min(1.0, gdp_delta(mu, eps).delta * (1.0 + 1e-9));
    if (one_run_p_value(guesses, Epsilon(eps), Delta(delta)) < alpha) return true;
  }
  return false;
}

}  // namespace

Claimed<double> one_run_mu_lower_bound(const CanaryGuesses& guesses, double confidence) {
  require_guesses(guesses);
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  const double alpha = 1.0 - confidence;
  const double low = largest_refuted([&](double mu) { return refuted(guesses, mu, alpha); }, 1e-9);
  return {low,
          Claim::lower_bound,
          "one-run audit, tail of correct guesses or trade-off curve",
          {kFairCoins, kGuessesSettled, kAssumesGdp},
          confidence};
}

}  // namespace sfumato
