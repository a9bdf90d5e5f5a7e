#pragma once

#include <optional>
#include <string>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/keys/makers.hpp"
#include "sfumato/lab/audit/audit_question.hpp"
#include "sfumato/lab/audit/options.hpp"

namespace sfumato::lab {

[[nodiscard]] const Keys<AuditQuestion>& audit_keys();

/// Throws   InvalidArgument at a key whose value cannot be, is missing, or contradicts another.
void check(const AuditQuestion& question);

/// Throws   InvalidArgument at the key of a value that cannot be: `confidence`, `delta`, `epsilons`,
///          `choosing`, `threshold`, `look`.
void check(const LedgerAuditOptions& options);

/// What audit_scores() is told. Where no confidence or delta is given it is `confidence` and `delta`.
[[nodiscard]] AuditOptions audit_options(const LedgerAuditOptions& options, double confidence,
                                         Delta delta);

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
      text_key<T>("policy", "name", "audit only this noise policy of the ledger, in detail",
                  &T::policy),
      text_key<T>("score", "name",
                  "score to audit in a ledger: margin (default), confidence, loss, gradient_norm, "
                  "projection (default with gradient canaries), likelihood_ratio (default where "
                  "the distribution is known)",
                  &T::score),
      shown_as(
          Key<T>{
              "claim", "eps=E,delta=D",
              "check this claim (delta: 1e-5 by default); exit code 1 if violated, 2 if undecided",
              [](T& to, const TomlTable& table, const std::string& key) {
                to.claim = read_claim(table, key);
              },
              [](const T& from) {
                return from.claim ? toml_text(guarantee_text(*from.claim)) : std::string();
              }},
          "eps=E,delta=D"),
      numbers_key<T>("delta", "numbers in [0, 1)",
                     "bound epsilon at these deltas (default: the study's, or 1e-5)", &T::deltas,
                     not_a_delta),
      with(numbers_key<T>("epsilons", "numbers >= 0",
                          "bound delta at these epsilons (default: the study's, or 1)",
                          &T::epsilons, not_an_epsilon),
           {"eps"}),
      number_key<T>("confidence", "number in (0, 1)",
                    "joint confidence of all bounds and policies (default: the study's, or 0.95)",
                    &T::confidence, not_a_confidence),
      choice_key<T, ThresholdStrategy>("strategy", "how thresholds are chosen", &T::strategy,
                                       strategy_choices()),
      numbers_key<T>("threshold", "numbers",
                     "with the strategy fixed: thresholds chosen before seeing any scores",
                     &T::thresholds, [](double) -> const char* { return nullptr; }),
      number_key<T>("choosing", "number in (0, 1)",
                    "with combined and held-out: share of the models used to choose thresholds",
                    &T::choosing, not_a_confidence),
      integer_key<T, std::uint64_t>(
          "look",
          "number of this interim look at a growing set of models, from 1 (ledgers keep count)",
          &T::look, 1),
      integer_key<T, std::uint64_t>(
          "guesses",
          "number of canaries to guess, fixed in advance (default: the best of several, with a "
          "correction)",
          &T::guesses, 1),
      integer_key<T, std::uint64_t>("seed", "seed for splitting samples and breaking ties",
                                    &T::seed, 0)};
}

}  // namespace sfumato::lab
