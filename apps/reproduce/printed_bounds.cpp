#include "reproduce/printed_bounds.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "sfumato/core/check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato::apps {
namespace {

/// Nothing where the distributions cannot be compared at this time.
std::optional<double> exact_of(const OuPair& pair, double time) {
  try {
    return exact_kl(pair, time).value.value();
  } catch (const NumericalFailure&) {
    return std::nullopt;
  }
}

std::string validity_text(const Pair<as_printed::Printed>& kl) {
  if (kl.d.valid && kl.d_prime.valid) return "holds here";
  if (!kl.d.valid && !kl.d_prime.valid) return "INVALID here";
  return fmt::format("INVALID for {} here", kl.d.valid ? "D'||D" : "D||D'");
}

}  // namespace

std::string_view title(PrintedFormula formula) {
  switch (formula) {
    case PrintedFormula::theorem: return "Theorem 2.2 as printed";
    case PrintedFormula::uniform_proposition: return "Prop. 1 as printed";
    case PrintedFormula::stationary_proposition: return "Prop. 2 as printed";
  }
  throw InternalError("a formula without a title");
}

std::vector<PrintedBound> printed_bounds(const SdePair& pair, double time) {
  require_non_negative("time", time, Where::here());
  std::vector<PrintedBound> bounds;
  if (pair.linear && time < kInf && !same_matrix(pair.linear->p.noise, pair.linear->q.noise)) {
    bounds.push_back({PrintedFormula::theorem,
                      {as_printed::entropy_bound(*pair.linear, time),
                       as_printed::entropy_bound(swapped(*pair.linear), time)}});
  }
  if (!pair.constants.value) return bounds;
  const auto& [forward, reverse, start] = *pair.constants.value;
  Pair<std::optional<double>> exact;
  if (pair.linear) exact = {exact_of(*pair.linear, time), exact_of(swapped(*pair.linear), time)};
  if (time == kInf) {
    bounds.push_back({PrintedFormula::stationary_proposition,
                      {as_printed::stationary_proposition(forward, exact.d),
                       as_printed::stationary_proposition(reverse, exact.d_prime)}});
  } else {
    bounds.push_back(
        {PrintedFormula::uniform_proposition,
         {as_printed::uniform_proposition(forward, start.lsi_constant, exact.d),
          as_printed::uniform_proposition(reverse, start.lsi_constant, exact.d_prime)}});
  }
  return bounds;
}

void add_printed_bounds(const BoundAnswer& answer, Document& document) {
  Table table("as_printed", "The formulas that the paper prints, for comparison only",
              {{"time", "t"},
               {"formula", "formula"},
               {"kl_forward", "KL(D||D')", "nats"},
               {"kl_reverse", "KL(D'||D)", "nats"},
               {"note", "note"}},
              2);
  bool valid = true;
  for (const BoundsAtTime& at : answer.at) {
    for (const PrintedBound& bound : printed_bounds(answer.question.problem.pair, at.time)) {
      // Bare numbers: they claim nothing.
      table.add_row({at.time, title(bound.formula), bound.kl.d.value, bound.kl.d_prime.value,
                     validity_text(bound.kl)});
      valid = valid && bound.kl.d.valid && bound.kl.d_prime.valid;
    }
  }
  if (table.rows().empty()) return;
  document.add(std::move(table));
  if (valid) return;
  document.state(StatementKind::info,
                 "Formulas marked INVALID are below the truth or without proof (docs/errata.md); "
                 "the corrected ones are above.");
}

}  // namespace sfumato::apps
