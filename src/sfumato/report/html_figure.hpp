#pragma once

#include <string>
#include <string_view>

#include "sfumato/report/figure.hpp"

namespace sfumato {

/// A figure's caption, axes and series in words, and the place where scripts draw it. `id` is unique in
/// the page, `number` ("2.1") that of the caption; `path` ("0/3") says which block of which chapter it is.
/// What scripts write into the drawing stands in attributes, typeset.
[[nodiscard]] std::string html_figure(const Figure& figure, std::string_view id,
                                      std::string_view number, std::string_view path,
                                      bool can_draw);

/// Whether a figure has several panels, which need the whole width of a page.
[[nodiscard]] bool is_wide(const Figure& figure);

}  // namespace sfumato
