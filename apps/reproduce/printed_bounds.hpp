#pragma once

#include <string_view>
#include <vector>

#include "reproduce/as_printed.hpp"
#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::apps {

/// What the paper prints about the KL of a pair.
enum class PrintedFormula { theorem, uniform_proposition, stationary_proposition };

/// "Theorem 2.2 as printed", ...
[[nodiscard]] std::string_view title(PrintedFormula formula);

/// One formula at one time, as KL(p || q) and as KL(q || p).
struct PrintedBound {
  PrintedFormula formula;
  Pair<as_printed::Printed> kl;
};

/// Those that speak of `pair` at `time`, where they differ from the corrected ones: never bounds.
/// Throws   InvalidArgument if time is negative or NaN.
[[nodiscard]] std::vector<PrintedBound> printed_bounds(const SdePair& pair, double time);

/// A table of them at every time of the answer, with whether they hold there; nothing where none applies.
void add_printed_bounds(const BoundAnswer& answer, Document& document);

}  // namespace sfumato::apps
