#pragma once

#include <optional>
#include <string>

#include "sfumato/data/keys/makers.hpp"
#include "sfumato/study/ledger_audit/options.hpp"

namespace sfumato {

/// A claimed (epsilon, delta) at that key. Throws   InvalidArgument for any other text.
[[nodiscard]] ClaimedGuarantee read_claim(const TomlTable& table, const std::string& key);

/// How thresholds are chosen, by name.
[[nodiscard]] keys::Choices<ThresholdStrategy> strategy_choices();

/// The keys of LedgerAuditOptions, for a question T that has them: `audit` and `report` ask the same of a
/// ledger.
template <class T>
[[nodiscard]] Keys<T> ledger_audit_keys() {
  using namespace keys;
  return {
      text_key<T>("policy", "name", "of a ledger: only this noise policy, in detail", &T::policy),
      text_key<T>("score", "name",
                  "of a ledger: margin (default), confidence, loss, gradient_norm, projection or "
                  "likelihood_ratio (default where the distribution is known)",
                  &T::score),
      Key<T>{"claim", "eps=E,delta=D",
             "check this claim (delta: 1e-5 unless given): exit code 1 if violated, 2 if open",
             [](T& to, const TomlTable& table, const std::string& key) {
               to.claim = read_claim(table, key);
             },
             [](const T& from) {
               return from.claim ? toml_text(guarantee_text(*from.claim)) : std::string();
             }},
      numbers_key<T>("delta", "numbers in [0, 1)",
                     "deltas to bound epsilon at (default: the study's, 1e-5)", &T::deltas,
                     not_a_delta),
      with(numbers_key<T>("epsilons", "numbers >= 0",
                          "epsilons to bound delta at (default: the study's, 1)", &T::epsilons,
                          not_an_epsilon),
           {"eps"}),
      number_key<T>("confidence", "number in (0, 1)",
                    "of all bounds together, of all policies too (default: the study's, 0.95)",
                    &T::confidence, not_a_confidence),
      choice_key<T, ThresholdStrategy>("strategy", "how thresholds are chosen", &T::strategy,
                                       strategy_choices()),
      numbers_key<T>("threshold", "numbers",
                     "for the strategy fixed: chosen before the scores were seen", &T::thresholds,
                     [](double) -> const char* { return nullptr; }),
      number_key<T>("choosing", "number in (0, 1)",
                    "for the strategies combined and held-out: share of the models that choose",
                    &T::choosing, not_a_confidence),
      integer_key<T, std::uint64_t>(
          "look", "which look at a growing set of models this is (ledgers count by themselves)",
          &T::look, 1),
      integer_key<T, std::uint64_t>(
          "guesses",
          "canaries to guess, settled before looking (default: the best of several "
          "numbers, corrected for)",
          &T::guesses, 1),
      integer_key<T, std::uint64_t>("seed", "of sample splitting and ties", &T::seed, 0)};
}

}  // namespace sfumato
