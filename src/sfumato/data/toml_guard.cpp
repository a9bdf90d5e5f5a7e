#include "sfumato/data/toml_guard.hpp"

#include <cstddef>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

/// Follows strings and comments through a TOML text. On text that is not TOML it may lose its way,
/// but only after the point at which the parser gives up.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  void scan() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        skip_comment();
      } else if (rest_.starts_with("\"\"\"") || rest_.starts_with("'''")) {
        skip_multi_line(rest_.front());
      } else if (rest_.front() == '"' || rest_.front() == '\'') {
        skip_single_line(rest_.front());
      } else {
        require_ascii("outside quotes", "Put keys and values with such characters in quotes");
        take(1);
      }
    }
  }

 private:
  void take(std::size_t bytes) {
    for (; bytes > 0 && !rest_.empty(); --bytes, rest_.remove_prefix(1)) {
      if (rest_.front() == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(rest_.front()) & 0xC0u) != 0x80u) {
        ++column_;  // counts characters, as toml++ does: bytes that continue one are left out
      }
    }
  }

  void require_ascii(const char* place, const char* remedy) const {
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x80) return;
    throw InvalidArgument(std::string("a non-ASCII character stands ") + place, remedy,
                          Where::at(source_, line_, column_));
  }

  void skip_comment() {
    while (!rest_.empty() && rest_.front() != '\n') take(1);
  }

  void skip_single_line(char quote) {
    take(1);
    while (!rest_.empty() && rest_.front() != quote && rest_.front() != '\n') {
      take(quote == '"' && rest_.front() == '\\' ? 2 : 1);
    }
    if (rest_.starts_with(quote)) take(1);
  }

  void skip_multi_line(char quote) {
    const std::string end(3, quote);
    take(3);
    while (!rest_.empty() && !rest_.starts_with(end)) {
      const bool escape = quote == '"' && rest_.front() == '\\';
      take(1);
      if (!escape) continue;
      const std::size_t next = rest_.find_first_not_of(" \t\r\n\v\f");
      if (next != 0) {  // a line-ending backslash: blanks follow, up to the first character
        take(next == std::string_view::npos ? rest_.size() : next);
      }
      require_ascii("after a line-ending backslash", "Begin the line with an ASCII character");
      if (next == 0) take(1);
    }
    // Up to two quotes may stand before the three that close.
    for (int i = 0; i < 5 && rest_.starts_with(quote); ++i) take(1);
  }

  std::string_view rest_;
  const std::string& source_;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
};

}  // namespace

void require_ascii_outside_strings(std::string_view text, const std::string& source) {
  Scanner(text, source).scan();
}

}  // namespace sfumato
