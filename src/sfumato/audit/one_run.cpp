#include "sfumato/audit/one_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <vector>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/one_run_fdp.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
namespace {

using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
// Of the incomplete beta function and the sums: up to 20,000 guesses 5e-13 was measured against mpmath.
constexpr double kRounding = 1e-10;

/// max over i of the mean of  P[B = v - 1], ..., P[B = v - i],  B ~ Bin(r, q), odds = q / (1 - q).
///
/// Going down from v - 1 the probabilities rise to the mode and then fall, so the mean rises until it
/// meets them. They are computed from the mode, where they do not underflow.
double largest_mean_below(double v, double r, double odds, double miss) {
  const double mode = std::min(v - 1.0, std::floor((r + 1.0) * (1.0 - miss)));
  const double at_mode =
      boost::math::ibeta_derivative(r - mode + 1.0, mode + 1.0, miss, Policy()) / (r + 1.0);
  std::vector<double>
      above;  // P[B = mode], P[B = mode + 1], ..., P[B = v - 1], in units of the first
  double term = 1.0;
  const auto first = static_cast<std::uint64_t>(mode), end = static_cast<std::uint64_t>(v);
  for (std::uint64_t i = first; i < end; ++i) {
    const auto k = static_cast<double>(i);
    above.push_back(term);
    term *= odds * (r - k) / (k + 1.0);
  }
  double sum = 0.0, best = 0.0, count = 0.0;
  for (auto value = above.rbegin(); value != above.rend(); ++value) {
    sum += *value;
    best = std::max(best, sum / ++count);
  }
  term = 1.0;
  for (std::uint64_t i = first; i > 0; --i) {
    const auto k = static_cast<double>(i);
    term *= k / ((r - k + 1.0) * odds);
    sum += term;
    if (sum / ++count < best) break;
    best = sum / count;
  }
  return best * at_mode;
}

}  // namespace

void require_guesses(const CanaryGuesses& guesses, const Where& where) {
  if (guesses.canaries == 0) throw InvalidArgument("there are no canaries", "Insert some", where);
  if (guesses.guesses > guesses.canaries || guesses.correct > guesses.guesses) {
    throw InvalidArgument(fmt::format("{} of {} guesses on {} canaries are correct",
                                      guesses.correct, guesses.guesses, guesses.canaries),
                          "Correct guesses are some of the guesses, those some of the canaries",
                          where);
  }
}

double one_run_p_value(const CanaryGuesses& guesses, Epsilon epsilon, Delta delta) {
  require_guesses(guesses);
  const auto m = static_cast<double>(guesses.canaries);
  const auto r = static_cast<double>(guesses.guesses);
  const auto v = static_cast<double>(guesses.correct);
  const double odds = std::exp(epsilon.nats());  // of a correct guess
  const double miss = 1.0 / (1.0 + odds);
  if (v == 0.0 || std::isinf(odds)) return 1.0;
  double p = boost::math::ibetac(r - v + 1.0, v, miss, Policy());
  if (delta.probability() > 0.0) {
    p += 2.0 * m * delta.probability() * largest_mean_below(v, r, odds, miss);
  }
  return std::min(1.0, p * (1.0 + kRounding));
}

Claimed<Epsilon> one_run_epsilon_lower_bound(const CanaryGuesses& guesses, Delta delta,
                                             double confidence) {
  require_guesses(guesses);
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  const double alpha = 1.0 - confidence;
  const double low = largest_refuted(
      [&](double eps) { return one_run_p_value(guesses, Epsilon(eps), delta) < alpha; });
  return {Epsilon(low),
          Claim::lower_bound,
          "one-run audit, tail of correct guesses",
          {kFairCoins, kGuessesSettled},
          confidence};
}

namespace {

double epsilon_of(const CanaryGuesses& guesses, Delta delta, double alpha) {
  // Two searches: the p-value need not rise with epsilon, so one for both may end below that of the tail.
  const double tail = largest_refuted(
      [&](double eps) { return one_run_p_value(guesses, Epsilon(eps), delta) < alpha; }, 1e-9);
  const double curve = largest_refuted(
      [&](double eps) { return one_run_curve_refutes(guesses, Epsilon(eps), delta, alpha); }, 1e-9);
  return std::max(tail, curve);
}

}  // namespace

std::vector<std::uint64_t> guess_numbers(std::uint64_t canaries) {
  const auto m = static_cast<double>(canaries);
  std::vector<std::uint64_t> numbers = {canaries};
  for (double some = 0.8 * m; some >= 2.0 * std::sqrt(m); some *= 0.5) {
    const auto rounded = static_cast<std::uint64_t>(std::llround(some));
    if (rounded < numbers.back()) numbers.push_back(rounded);
  }
  return numbers;
}

OneRunAudit::OneRunAudit(std::vector<CanaryGuesses> guesses, double confidence)
    : guesses_(std::move(guesses)), confidence_(confidence) {
  if (guesses_.empty()) throw InvalidArgument("there are no guesses", "Pass some");
  for (const CanaryGuesses& some : guesses_) require_guesses(some);
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence = {} is not between 0 and 1", confidence),
                          "Pass a probability such as 0.95");
  }
  level_ = (1.0 - confidence) / static_cast<double>(guesses_.size());
}

std::string OneRunAudit::method() const {
  std::string text = "one-run audit, tail of correct guesses or trade-off curve";
  if (guesses_.size() > 1) {
    text += fmt::format("; level divided by {} numbers of guesses", guesses_.size());
  }
  return text;
}

Claimed<Epsilon> OneRunAudit::epsilon(Delta delta) const {
  return {Epsilon(epsilon_of(best(delta), delta, level_)),
          Claim::lower_bound,
          method(),
          {kFairCoins, kGuessesSettled},
          confidence_};
}

Claimed<double> OneRunAudit::mu() const {
  double largest = 0.0;
  for (const CanaryGuesses& some : guesses_) {
    largest = std::max(largest, one_run_mu_lower_bound(some, 1.0 - level_).value);
  }
  return {largest,
          Claim::lower_bound,
          method(),
          {kFairCoins, kGuessesSettled, kAssumesGdp},
          confidence_};
}

Claimed<Epsilon> OneRunAudit::epsilon_if_gdp(Delta delta) const {
  return map(mu(),
             [delta](double mu) { return Epsilon(gdp_epsilon(mu, delta).nats() * (1.0 - 1e-9)); });
}

double OneRunAudit::maximum_epsilon(Delta delta) const {
  double largest = 0.0;
  for (const CanaryGuesses& some : guesses_) {
    largest =
        std::max(largest, epsilon_of({some.canaries, some.guesses, some.guesses}, delta, level_));
  }
  return largest;
}

const CanaryGuesses& OneRunAudit::best(Delta delta) const {
  std::vector<double> shown;
  shown.reserve(guesses_.size());
  for (const CanaryGuesses& some : guesses_) shown.push_back(epsilon_of(some, delta, level_));
  return guesses_[static_cast<std::size_t>(std::max_element(shown.begin(), shown.end()) -
                                           shown.begin())];
}

OneRunAudit maximum_one_run_audit(std::uint64_t canaries, double confidence) {
  std::vector<CanaryGuesses> perfect;
  for (const std::uint64_t number : guess_numbers(canaries)) {
    perfect.push_back({canaries, number, number});
  }
  return {std::move(perfect), confidence};
}

}  // namespace sfumato
