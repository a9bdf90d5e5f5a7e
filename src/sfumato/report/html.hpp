#pragma once

#include <string>

#include "sfumato/report/report.hpp"

namespace sfumato {

/// The report as one HTML file: it asks the network for nothing and says all its text without scripts.
///
/// On top what was found in plain words (the abstract, verdicts), then the chapters with their tables and figures, then
/// assumptions, provenance and a glossary of the terms that explain them. Numbers are rounded towards their claim, as in the text; the full value is in the
/// `title` and `data-value` of the element. Everything that comes from a document is escaped.
///
/// The page carries `report_json` in <script type="application/json" id="report-data">, from which the
/// figures are drawn. A build without Node.js has no drawing code: its pages say so in each figure.
///
/// Throws   InternalError if there is no chapter.
[[nodiscard]] std::string html_report(const Report& report);

}  // namespace sfumato
