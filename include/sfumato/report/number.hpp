#pragma once

#include <string>

#include "sfumato/core/claim.hpp"

namespace sfumato {

/// Numbers as people read them. All functions here share the layout: fixed notation from 1e-4 to
/// 1e6 and otherwise `1.234e-5`; whole numbers below 1e9 with all their digits and nothing else;
/// `0` for both zeros; `inf`, `-inf`.
/// Throws   InternalError for NaN.

enum class Rounding { nearest, up, down };

/// What a number of a column is; decides how values near its edge are shown.
enum class NumberStyle {
  general,
  probability,  ///< in [0, 1]: a value near 1 is shown as its distance from 1
};

/// Up for an upper bound, down for a lower bound, to nearest otherwise.
[[nodiscard]] Rounding rounding_of(Claim claim);

/// `value` with `digits` significant digits (more where the integer part has more), trailing zeros
/// kept: they say how much is known.
///
/// Rounding up gives the least number of that many digits that reads back, as a double, at or
/// above `value`; down likewise. So 0.1 rounded up is 0.1000, not 0.1001.
[[nodiscard]] std::string format_number(double value, Rounding rounding = Rounding::nearest,
                                        int digits = 4);

/// The number that format_number shows, as a double.
[[nodiscard]] double rounded(double value, Rounding rounding, int digits);

/// As format_number, but a value in (0.9999, 1) reads `1 - 3.2e-9`: it never becomes 1, and what
/// matters about it, its distance from 1, keeps two digits.
[[nodiscard]] std::string format_probability(double value, Rounding rounding = Rounding::nearest,
                                             int digits = 4);

/// A number that is exact by nature (a time, a requested epsilon): up to six digits, no trailing
/// zeros.
[[nodiscard]] std::string format_input(double value);

/// The value of a claim rounded towards it, without the symbol.
[[nodiscard]] std::string format_claimed(const Claimed<double>& claimed,
                                         NumberStyle style = NumberStyle::general);

}  // namespace sfumato
