#pragma once

#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/random/release_bits.hpp"

namespace sfumato {

/// How many of the halvings that its rows allow a feature's range takes; that of a target takes all.
enum class RangeMargin {
  none,  ///< all: noise is measured in ranges
  /// All but one. Where whitened descent learns the metric a range that is twice too wide costs little, and rows that the counts' noise hides are not moved to its
  /// ends, which costs the weakest combinations of features most (condition number 1e6, epsilon 8: R^2 .754 without the margin, .867 with it and without privacy). The range of a target is
  /// then the scale of residuals, at which gradients are clipped, and moves no target: moved to the ends, the largest half percent of a skewed one biased coefficients by more than their errors
  /// (intervals of 95 % held that of a lognormal income in 77 %).
  one_halving,
};

/// Declared ranges are often far wider than what they hold, and noise is measured in them. This releases, for every numeric column and a quantity
/// that is the target, how many rows are within 1, 1/2, 1/4, ... of the range, around its middle if 0 is inside it and else from its low end, and
/// gives the narrowest of these ranges that holds nearly all rows: post-processing, so that it may be used like a declared one (Spec §21.5).
///
/// A record adds one to one count of each column, or to none of a column whose value is missing, hence moves them by sqrt(columns) at most.
/// Throws   as noisy_sum().
[[nodiscard]] PublicTable release_ranges(const BoundedRows& rows, const PublicTable& table,
                                         FitModel model, double mu, RangeMargin margin,
                                         NoiseMode mode, ReleaseBits& bits);

/// The deviation of one of those counts over the number of rows: ranges are found where it is small.
[[nodiscard]] double range_noise(const PublicTable& table, FitModel model, double mu, double rows);

}  // namespace sfumato
