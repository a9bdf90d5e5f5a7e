#include "sfumato/report/report.hpp"

#include <nlohmann/json.hpp>

#include "sfumato/core/error.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/read_document.hpp"

namespace sfumato {
namespace {

using Json = nlohmann::ordered_json;

/// The keys that are not entries.
bool is_own(const std::string& key) {
  return key == "schema_version" || key == "title" || key == "written" || key == "made" ||
         key == "chapters";
}

Json json_of(const Report& report) {
  Json json{{"schema_version", kDocumentSchemaVersion}, {"title", report.title}};
  if (!report.written.empty()) json["written"] = report.written;
  for (const auto& [key, value] : report.made) json["made"][key] = value;
  for (const auto& [key, value] : report.entries) {
    if (is_own(key)) throw InternalError("the entry '" + key + "' is a key of the report itself");
    json[key] = Json::parse(value);
  }
  json["chapters"] = Json::array();
  for (const Document& chapter : report.chapters) {
    json["chapters"].push_back(Json::parse(render_json(chapter)));
  }
  return json;
}

}  // namespace

std::string report_json(const Report& report) {
  return json_of(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string compact_report_json(const Report& report) {
  return json_of(report).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Report read_report(std::string_view json, const std::string& source) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object() || !parsed.contains("chapters")) {
    Document only = read_document(json, source);
    std::string title = only.title();
    return {std::move(title), {std::move(only)}};
  }
  const Json& chapters = parsed["chapters"];
  if (!parsed.contains("title") || !parsed["title"].is_string() || !chapters.is_array() ||
      chapters.empty()) {
    throw InvalidArgument("the report has no title or no chapters", "Pass a report.json as it was",
                          Where::in(source));
  }
  Report report{parsed["title"].get<std::string>(), {}};
  if (parsed.contains("written")) {
    if (!parsed["written"].is_string()) {
      throw InvalidArgument("written is not a text", "Pass a report.json as it was",
                            Where::in(source));
    }
    report.written = parsed["written"].get<std::string>();
  }
  if (parsed.contains("made")) {
    if (!parsed["made"].is_object()) {
      throw InvalidArgument("made is not an object", "Pass a report.json as it was",
                            Where::in(source));
    }
    for (const auto& [key, value] : parsed["made"].items()) {
      if (!value.is_string()) {
        throw InvalidArgument("made holds something that is not a text",
                              "Pass a report.json as it was", Where::in(source));
      }
      report.made.emplace_back(key, value.get<std::string>());
    }
  }
  for (const auto& [key, value] : parsed.items()) {
    if (!is_own(key)) report.entries.emplace_back(key, value.dump());
  }
  for (const Json& chapter : chapters) {
    report.chapters.push_back(read_document(chapter.dump(), source));
  }
  return report;
}

}  // namespace sfumato
