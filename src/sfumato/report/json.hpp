#pragma once

#include <string>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Raised when a reader of the JSON written by an earlier version would misread it.
inline constexpr int kDocumentSchemaVersion = 1;

/// The document for programs, with the same content as the text and every digit (doubles read back
/// bit for bit), indented by two and ended by a line break.
///
///   {"schema_version", "command", "title", "provenance": {...}, "blocks": [...]}
///   table      {"type", "key", "title", "columns": [{"key", "title", "unit"}],
///               "rows": [{column key: cell}]}
///   figure     {"type", "key", "title", "mark", "axes": {"x", "y"[, "z"]},
///               "series": [{"key", "title", the keys of a claim but "value", "x", "y"[, "z"]}]}
///   statement  {"type", "kind", "text"}
///   cell       a string, a number, null where empty ({"value": null, "reason"} with a reason),
///              or a claim {"value", "claim", "symbol", "method", "assumptions", "confidence"}
///
/// Infinities are the strings "inf" and "-inf". Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string render_json(const Document& document);

}  // namespace sfumato
