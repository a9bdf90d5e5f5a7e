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

/// The report that a reproduction ends with.
Report reproduced(const std::string& directory) {
  const std::string whole = (fs::path(directory) / "report.json").string();
  if (!fs::exists(whole)) {
    throw InvalidArgument("this directory has no report.json",
                          "Pass a directory that sfumato reproduce has finished",
                          Where::in(directory));
  }
  return read_report(read_file(whole), whole);
}

}  // namespace

Report read_input(const std::string& path, const AuditCommand& audit, int& exit_code) {
  if (fs::is_directory(path)) return reproduced(path);
  const std::string bytes = read_file(path);
  if (bytes.starts_with(kSqliteMagic)) return audited(path, audit, exit_code);
  return read_report(bytes, path);
}

}  // namespace sfumato::cli
