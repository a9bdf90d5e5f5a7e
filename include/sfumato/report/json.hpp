#pragma once

#include <string>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Raised when a reader of the JSON written by an earlier version would misread it.
inline constexpr int kDocumentSchemaVersion = 1;

/// The document for programs, with the same content as the text and every digit (doubles read back
/// bit for bit), indented by two and ended by a line break.
///
///   {"schema_version", "command", "title"[, "abstract"], "provenance": {...}, "results": [...],
///    "verdicts": [...], "blocks": [...]}
///   abstract   {["released"][, "asked"][, "answer"][, "cost"][, "advice"]}
///   result     {"quantity", what it is of, "value", and the other keys of a claim}
///   verdict    {"policy", "claim", "outcome", "epsilon_lower", "maximum", "confidence"}
///   table      {"type", "key", "title"[, "key_columns"],
///               "columns": [{"key", "title", "unit"[, "style"][, "align"]}],
///               "rows": [{column key: cell}]}
///   figure     {"type", "key", "title", "mark"[, "layout"][, "caption"], "axes": {"x", "y"[, "z"]},
///               "series": [{"key", "title"[, "mark"], the keys of a claim but "value", "x", "y"[, "z"]
///                           [, "x_intervals"][, "y_intervals"][, "labels"]}]}
///   statement  {"type", "kind", "text"[, "outcome"]}
///   cell       a string, a number, null where empty ({"value": null, "reason"} with a reason),
///              or a claim {"value", "claim", "symbol", "method", "assumptions", "confidence"}
///   axis       {"title", "unit", "scale"[, "categories"][, "from"][, "to"]}
///
/// What is in brackets is left out where it says nothing: one key column, automatic alignment.
/// Infinities are the strings "inf" and "-inf". Bytes that are not UTF-8 become U+FFFD. `keys` is how texts call the keys of
/// questions.
[[nodiscard]] std::string render_json(const Document& document, KeyStyle keys = KeyStyle::option);

}  // namespace sfumato
