#include "command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

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

Document new_document(const std::string& command, const std::string& title) {
  Document document(command, title);
  document.add_provenance("sfumato", SFUMATO_VERSION);
  return document;
}

}  // namespace sfumato::cli
