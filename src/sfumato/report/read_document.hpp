#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// A document from the JSON that `render_json` wrote: render_json gives the same bytes again.
///
/// Throws   InvalidArgument naming `source` and the place in the JSON ("blocks[3].series[0].x") if it is
///          not JSON, not a document, of a later schema, or inconsistent.
[[nodiscard]] Document read_document(std::string_view json, const std::string& source);

}  // namespace sfumato
