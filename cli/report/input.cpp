#include "report/input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "audit/ledger.hpp"
#include "command.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/report/read_document.hpp"

namespace sfumato::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMagic = "SQLite format 3";

Report audited(const std::string& path, AuditCommand command, int& exit_code) {
  command.ledger = path;
  Document document = new_document("audit", fmt::format("Audit of {}", path));
  audit_ledger(document, command, exit_code);
  document.add_provenance("seed", fmt::format("{}", command.seed));
  return {document.title(), {document}};
}

/// The keys of the parts in a file of entries: {"table2": {"s1": {"paper", ...}}} has "table2.s1".
void collect_parts(const nlohmann::ordered_json& entries, const std::string& prefix,
                   std::vector<std::string>& keys) {
  if (!entries.is_object()) return;
  for (const auto& [key, value] : entries.items()) {
    if (!value.is_object()) continue;
    if (value.contains("paper")) {
      keys.push_back(prefix + key);
    } else {
      collect_parts(value, prefix + key + ".", keys);
    }
  }
}

/// report.json has everything; an unfinished run has only the parts that are done.
Report reproduced(const std::string& directory) {
  const std::string whole = (fs::path(directory) / "report.json").string();
  if (fs::exists(whole)) return read_report(read_file(whole), whole);
  const std::string summary = (fs::path(directory) / "reproduce.json").string();
  if (!fs::exists(summary)) {
    throw InvalidArgument("this directory has neither report.json nor reproduce.json",
                          "Pass a directory that sfumato reproduce has written",
                          Where::in(directory));
  }
  const std::string text = read_file(summary);
  const auto entries = nlohmann::ordered_json::parse(text, nullptr, false);
  std::vector<std::string> keys;
  if (!entries.is_discarded()) collect_parts(entries, "", keys);
  if (keys.empty()) {
    throw InvalidArgument("no part of the paper is in this file", "Run sfumato reproduce again",
                          Where::in(summary));
  }
  Report report{"The paper again", {}};
  for (const std::string& key : keys) {
    const std::string path = (fs::path(directory) / (key + ".json")).string();
    report.chapters.push_back(read_document(read_file(path), path));
  }
  for (const auto& [key, value] : entries.items()) report.entries.emplace_back(key, value.dump());
  return report;
}

}  // namespace

Report read_input(const std::string& path, const AuditCommand& audit, int& exit_code) {
  if (fs::is_directory(path)) return reproduced(path);
  const std::string bytes = read_file(path);
  if (bytes.starts_with(kSqliteMagic)) return audited(path, audit, exit_code);
  return read_report(bytes, path);
}

}  // namespace sfumato::cli
