#pragma once

#include <string>

#include "sfumato/report/figure.hpp"
#include "sfumato/report/table.hpp"

namespace sfumato {

/// A table as CSV: a header of column keys, then plain values with every digit (doubles read back
/// bit for bit), `inf` and `-inf` for infinities, nothing for empty cells. Claims, methods and
/// units are in the JSON. Quoting as RFC 4180; lines end in \n.
[[nodiscard]] std::string to_csv(const Table& table);

/// A figure as CSV in long form: one line per point, `series,x,y` (and `,z` for a plane or an image), or
/// per bin, `series,lower,upper,height`. Categories by name. Columns for intervals
/// (`x_low,x_high,y_low,y_high`) and for labels where a series has them.
[[nodiscard]] std::string to_csv(const Figure& figure);

}  // namespace sfumato
