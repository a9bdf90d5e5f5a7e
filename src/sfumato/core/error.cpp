#include "sfumato/core/error.hpp"

#include <fmt/format.h>

#include <string_view>

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

/// A text in which keys of questions stand in backticks, each as `call` calls it.
std::string called(std::string_view text, const CallKey& call) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == text.npos ? text.npos : text.find('`', open + 1);
    if (close == text.npos) return result.append(text);
    const std::string name = call(std::string(text.substr(open + 1, close - open - 1)));
    result.append(text.substr(0, open));
    result.append(name.empty() ? text.substr(open, close + 1 - open) : std::string_view(name));
    text.remove_prefix(close + 1);
  }
}

/// What was wrong and what to do; an option says itself which key it stands for.
std::string advice_of(const Error::Problem& problem, const std::string& remedy, bool names_key) {
  const std::string label =
      problem.key.empty() || !names_key ? "" : fmt::format("`{}`{}", problem.key, problem.joint);
  return fmt::format("{}{}{}", sentence(label + problem.text), remedy.empty() ? "" : " ",
                     sentence(remedy));
}

}  // namespace

Where Where::at(const std::string& path, std::size_t line, std::size_t column) {
  if (line == 0) return in(path);
  if (column == 0) return in(fmt::format("{}:{}", path, line));
  return in(fmt::format("{}:{}:{}", path, line, column));
}

Where Where::row(const std::string& table, std::size_t index) {
  return in(fmt::format("{}: row {}, from 0", table, index));
}

Error::Error(const Error::Problem& problem, const std::string& remedy, const Where& where)
    : std::runtime_error(one_line(
          fmt::format("{}: {}", where.text(), advice_of(problem, remedy, !where.is_option())))),
      problem_(problem),
      remedy_(remedy),
      where_(where) {}

Error::Error(const Error& same, const std::string& further)
    : Error(same.problem_, same.remedy_.empty() ? further : sentence(same.remedy_) + " " + further,
            same.where_) {}

std::string Error::advice() const { return one_line(advice_of(problem_, remedy_, true)); }

std::string Error::message(const CallKey& call) const {
  const std::string place = where_.is_key() ? call(where_.text()) : "";
  return one_line(fmt::format("{}: {}", place.empty() ? where_.text() : place,
                              called(advice_of(problem_, remedy_, !where_.is_option()), call)));
}

}  // namespace sfumato
