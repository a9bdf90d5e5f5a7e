#include "sfumato/audit/one_run_gdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

/// Whether v is above the mode of Bin(r, q): there the p-value falls with v, as the argument of the
/// header needs.
bool above_mode(const CanaryGuesses& guesses, double eps) {
  const double q = 1.0 / (1.0 + std::exp(-eps));
  return static_cast<double>(guesses.correct) >= (static_cast<double>(guesses.guesses) + 1.0) * q;
}

bool refuted(const CanaryGuesses& guesses, double mu, double alpha) {
  // delta_mu(eps) matters between mu^2/2, the mean of the loss, and some standard deviations above;
  // beyond, more eps only loses. A coarse search costs power, never validity.
  constexpr int kSteps = 64;
  const double high = 0.5 * mu * mu + 9.0 * mu;
  for (int i = 0; i <= kSteps; ++i) {
    const double eps = high * i / kSteps;
    if (!above_mode(guesses, eps)) return false;  // nor at any larger eps
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
  double low = 0.0, high = 1.0;
  while (refuted(guesses, high, alpha)) {
    low = high;
    high *= 2.0;
  }
  while (high - low > 1e-9 * high) {
    const double middle = 0.5 * (low + high);
    (refuted(guesses, middle, alpha) ? low : high) = middle;
    if (high < 1e-12) break;  // not even a mu of nothing
  }
  return {low,
          Claim::lower_bound,
          "one-run audit at the best epsilon of the Gaussian curve",
          {kFairCoins, kGuessesSettled, kAssumesGdp},
          confidence};
}

Claimed<Epsilon> one_run_epsilon_if_gdp(const CanaryGuesses& guesses, Delta delta,
                                        double confidence) {
  return map(one_run_mu_lower_bound(guesses, confidence),
             [delta](double mu) { return Epsilon(gdp_epsilon(mu, delta).nats() * (1.0 - 1e-9)); });
}

}  // namespace sfumato
