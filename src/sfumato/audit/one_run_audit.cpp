#include "sfumato/audit/one_run_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/one_run_fdp.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/divergence/gdp.hpp"

namespace sfumato {
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
