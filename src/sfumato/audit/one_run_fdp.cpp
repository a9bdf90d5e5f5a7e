#include "sfumato/audit/one_run_fdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

// Each step of the recursion adds positive numbers, so 20,000 of them are off by 2e-12. What the curve
// forces is made smaller by more than that: less is forced, and nothing is refuted by rounding.
constexpr double kRounding = 1e-11;

void check(const CanaryGuesses& guesses, double alpha, const Where& where) {
  require_guesses(guesses, where);
  if (!(alpha > 0.0 && alpha < 1.0)) {
    throw InvalidArgument(fmt::format("alpha = {} is not between 0 and 1", alpha),
                          "Pass an error probability such as 0.05", where);
  }
}

/// `inverse(y)`: the least x with F(x) >= y.
template <class Inverse>
bool refutes(const CanaryGuesses& guesses, double alpha, Inverse&& inverse) {
  const auto m = static_cast<double>(guesses.canaries);
  const auto r = static_cast<double>(guesses.guesses);
  const auto v = static_cast<double>(guesses.correct);
  // E[correct; at least i], E[wrong; at least i] and P[at least i], the least there can be.
  double correct = v * alpha, wrong = (r - v) * alpha, mass = alpha;
  for (std::uint64_t i = guesses.correct; i-- > 0;) {
    const double share = std::min(1.0, correct / m) * (1.0 - kRounding);
    const double needed = m * inverse(share) * (1.0 - kRounding);
    if (needed <= wrong)
      return false;  // nothing is forced here, nor below, where both stay as they are
    const double added = (needed - wrong) / (r - static_cast<double>(i));
    mass += added;
    if (mass > 1.0 + kRounding) return true;
    wrong = needed;
    correct += static_cast<double>(i) * added;
  }
  return false;
}

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

bool one_run_curve_refutes(const CanaryGuesses& guesses, Epsilon epsilon, Delta delta,
                           double alpha) {
  check(guesses, alpha, Where::here());
  // F(x) = min(delta + e^eps x, 1 - e^-eps (1 - delta - x))
  const double ratio = std::exp(epsilon.nats()), d = delta.probability();
  return refutes(guesses, alpha, [=](double y) {
    return std::max({0.0, (y - d) / ratio, 1.0 - d - ratio * (1.0 - y)});
  });
}

bool one_run_curve_refutes_gdp(const CanaryGuesses& guesses, double mu, double alpha) {
  check(guesses, alpha, Where::here());
  require_non_negative("mu", mu);
  // F(x) = Phi(Phi^{-1}(x) + mu)
  return refutes(guesses, alpha, [=](double y) {
    if (y <= 0.0) return 0.0;
    const double z = -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * y, Policy());
    return 0.5 * std::erfc((mu - z) / std::numbers::sqrt2);
  });
}

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
