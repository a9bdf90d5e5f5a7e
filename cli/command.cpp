#include "command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "sfumato/core/error.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/text.hpp"

namespace sfumato::cli {

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON with every digit, claim and method");
}

void print(const Document& document, bool json) {
  write_output(json ? render_json(document) : render_text(document));
}

void write_output(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw StorageError(std::string("cannot write: ") + std::strerror(errno),
                       "Free some space or redirect the output elsewhere",
                       Where::in("standard output"));
  }
}

std::string time_now() {
  std::time_t seconds = std::time(nullptr);
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH")) {
    const auto end = fixed + std::strlen(fixed);
    std::time_t value = 0;
    const auto [rest, error] = std::from_chars(fixed, end, value);
    if (error == std::errc{} && rest == end) seconds = value;
  }
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

Document new_document(const std::string& command, const std::string& title) {
  Document document(command, title);
  document.add_provenance("sfumato", SFUMATO_VERSION);
  return document;
}

}  // namespace sfumato::cli
