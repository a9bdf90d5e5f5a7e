#include "report/input.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "sfumato/answers/audit/ledger.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/report/read_document.hpp"

namespace sfumato::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMagic = "SQLite format 3";

/// Of JSON: a parsed document takes about ten times as much.
constexpr std::uint64_t kLargestReport = std::uint64_t{256} << 20;

Report audited(const std::string& path, AuditCommand command, Verdict& verdict) {
  command.ledger = path;
  Document document = new_document("audit", fmt::format("Audit of {}", path));
  audit_ledger(document, command, verdict);
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
  return read_report(read_file(whole, kLargestReport), whole);
}

/// By its first bytes; a ledger may be larger than any file that is read as a whole.
bool is_database(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;  // a pipe can be read only once
  std::string start(kSqliteMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kSqliteMagic;
}

}  // namespace

Report read_input(const std::string& path, const AuditCommand& audit, Verdict& verdict) {
  if (fs::is_directory(path)) return reproduced(path);
  if (is_database(path)) return audited(path, audit, verdict);
  return read_report(read_file(path, kLargestReport), path);
}

}  // namespace sfumato::cli
