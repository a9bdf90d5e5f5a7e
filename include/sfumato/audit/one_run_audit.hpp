#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sfumato/audit/one_run.hpp"
#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"

namespace sfumato {

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
