#pragma once

#include <cstddef>
#include <string>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Where a text is read.
struct TextStyle {
  std::size_t width = 100;  ///< columns
  bool colour = false;      ///< ANSI colours for verdicts and warnings
  /// What draws the figures, named in one line; empty: they are left out.
  std::string figures_by = "--report FILE.html";
  KeyStyle keys = KeyStyle::option;  ///< how statements call keys
};

/// The document for people: title, blocks in order, provenance, and last the summary statements,
/// each on one line. Plain text in UTF-8 that ends with a line break; user-provided names are made
/// printable.
///
/// Every claimed number has its symbol beside it (`<= 0.1234`), rounded towards its claim. Methods,
/// assumptions and reasons for empty cells are notes below the table, each printed once: `[1]` in
/// a heading is about the whole column, `[1]` beside a number about that number.
/// A table wider than the text is printed in parts that repeat its key columns. Bars are drawn; of other
/// figures one line says how to see them.
[[nodiscard]] std::string render_text(const Document& document, const TextStyle& style = {});

}  // namespace sfumato
