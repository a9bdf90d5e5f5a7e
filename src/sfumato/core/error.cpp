#include "sfumato/core/error.hpp"

#include <fmt/format.h>

namespace sfumato {
namespace {

/// Closes a sentence once: messages are assembled from parts that may or may not end in a stop.
std::string sentence(const std::string& text) {
  if (text.empty() || text.back() == '.' || text.back() == '?' || text.back() == '!') return text;
  return text + ".";
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return text;
}

}  // namespace

Where Where::at(const std::string& path, std::size_t line, std::size_t column) {
  if (line == 0) return in(path);
  if (column == 0) return in(fmt::format("{}:{}", path, line));
  return in(fmt::format("{}:{}:{}", path, line, column));
}

Error::Error(const std::string& problem, const std::string& remedy, const Where& where)
    : std::runtime_error(one_line(fmt::format("{}: {}{}{}", where.text(), sentence(problem),
                                              remedy.empty() ? "" : " ", sentence(remedy)))),
      where_(where) {}

}  // namespace sfumato
