#pragma once

#include <span>
#include <string>

#include "sfumato/report/figure.hpp"

namespace sfumato {

/// Counts of `values` in about ten bins with round edges, as a bar figure with the one series
/// "count" that the text renderer draws with characters.
///
/// A bin holds its lower edge; the last one holds both. `axis.scale` log gives edges 1, 2, 5, 10,
/// ... or whole decades; values <= 0 then share the first bin. Infinite values share a bin that
/// ends at infinity. Magnitudes above 1e300 count as infinite, and below 1e-300 on a log axis as 0.
///
/// Edges    no values give a figure with no bars; equal values give one bin around them.
/// Throws   InternalError for NaN.
[[nodiscard]] Figure histogram(std::string key, std::string title, Axis axis,
                               std::span<const double> values);

}  // namespace sfumato
