#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

/// Outcome of guessing, from one trained model, which canaries it was trained on. Each canary was
/// included by its own fair coin; the attacker may abstain on some [SteinkeNasrJagielski2023].
struct CanaryGuesses {
  std::uint64_t canaries;  ///< m, guessed or not
  std::uint64_t guesses;   ///< r <= m; how many, and on which, is settled before the coins are seen
  std::uint64_t correct;   ///< v <= r
};

/// Throws   InvalidArgument unless correct <= guesses <= canaries and canaries >= 1.
void require_guesses(const CanaryGuesses& guesses, const Where& where = Where::here());

/// Probability that an (epsilon, delta)-DP mechanism lets anybody guess so well, or a bound on it.
///
///   Spec §11.4 (1):  P[B >= v] + 2 m delta max_i P[v > B >= v - i] / i,   B ~ Bin(r, 1/(1 + e^-eps))
///
/// Time proportional to the distance of v from its mean, r at most. Rounded up; 1 for v = 0.
/// Where v is above the mode of B it falls with v.
[[nodiscard]] double one_run_p_value(const CanaryGuesses& guesses, Epsilon epsilon, Delta delta);

/// Largest epsilon found with a p-value below 1 - confidence (Spec §11.4 (2)); 0 if there is none.
[[nodiscard]] Claimed<Epsilon> one_run_epsilon_lower_bound(const CanaryGuesses& guesses,
                                                           Delta delta, double confidence);

/// How many of so many canaries are guessed, as settled before the coins are seen: all, and from 4/5 of them
/// by halves down to about 2 sqrt(m). Few guesses show most where the attack is weak, many where it is
/// strong; which of the two holds is not known before, so the level is divided by their number.
///
/// Measured for scores N(0, 1) and N(shift, 1), shifts 0.5 to 5, 100 to 20,000 canaries: the bound is 11 %
/// below that of the best number of guesses with the whole level, on average; all guesses, judged by the tail, 45 %.
[[nodiscard]] std::vector<std::uint64_t> guess_numbers(std::uint64_t canaries);

/// What one run with canaries shows, by the best of several numbers of guesses.
///
/// For one number of guesses and one guarantee, both tests, the tail of Spec §11.4 and the curve of §11.5, say
/// "at least so many correct refute it", so the smaller number may be taken without correction; so may the
/// largest guarantee that is refuted. Numbers of guesses divide the level.
class OneRunAudit {
 public:
  /// `guesses` of the same canaries, each of a number that was settled before.
  /// Throws   InvalidArgument if there are none, as require_guesses(), or if confidence is not in (0, 1).
  OneRunAudit(std::vector<CanaryGuesses> guesses, double confidence);

  [[nodiscard]] Claimed<Epsilon> epsilon(Delta delta) const;
  /// A bound on mu, if the mechanism is Gaussian-DP at all.
  [[nodiscard]] Claimed<double> mu() const;
  [[nodiscard]] Claimed<Epsilon> epsilon_if_gdp(Delta delta) const;

  /// The maximum auditable epsilon: what epsilon() would be if all guesses were right.
  [[nodiscard]] double maximum_epsilon(Delta delta) const;

  [[nodiscard]] const std::vector<CanaryGuesses>& guesses() const { return guesses_; }
  /// Those behind epsilon(delta).
  [[nodiscard]] const CanaryGuesses& best(Delta delta) const;
  /// What each of them may err with.
  [[nodiscard]] double level() const { return level_; }

 private:
  [[nodiscard]] std::string method() const;

  std::vector<CanaryGuesses> guesses_;
  double confidence_, level_;
};

/// The audit of so many canaries if all guesses were right: for planning.
[[nodiscard]] OneRunAudit maximum_one_run_audit(std::uint64_t canaries, double confidence);

}  // namespace sfumato
