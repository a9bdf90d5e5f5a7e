#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Documents that are read together.
struct Report {
  std::string title;
  std::vector<Document> chapters;  ///< in reading order; a single one is the whole report
  /// Further keys of the JSON and their values as JSON text, for programs that look for them.
  std::vector<std::pair<std::string, std::string>> entries = {};
  std::string written = {};  ///< when, for people; empty: not said
  /// How the page was made: "command line", "commit", checksums of inputs; with values, in order.
  std::vector<std::pair<std::string, std::string>> made = {};
};

/// The same report for programs: {"schema_version", "title", "written", "made": {...}, the entries, "chapters": [documents as
/// render_json]}, indented by two and ended by a line break.
[[nodiscard]] std::string report_json(const Report& report);

/// The same on one line.
[[nodiscard]] std::string compact_report_json(const Report& report);

/// A report from JSON: what `report_json` wrote, or one document, which becomes the only chapter.
/// Throws   InvalidArgument as read_document.
[[nodiscard]] Report read_report(std::string_view json, const std::string& source);

}  // namespace sfumato
