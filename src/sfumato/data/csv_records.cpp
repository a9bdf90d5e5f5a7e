#include "sfumato/data/csv_records.hpp"

#include <fmt/format.h>

#include "sfumato/core/error.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

bool CsvRecords::next() {
  fields_.clear();
  unescaped_.clear();
  if (rest_.empty()) return false;
  record_line_ = line_;
  for (;;) {
    // Blanks before a quote are tolerated: `1, "2"` is common.
    std::size_t start = 0;
    while (start < rest_.size() && (rest_[start] == ' ' || rest_[start] == '\t') &&
           rest_[start] != separator_) {
      ++start;
    }
    if (start < rest_.size() && rest_[start] == '"') {
      rest_.remove_prefix(start + 1);
      fields_.push_back(quoted_field());
    } else {
      fields_.push_back(plain_field());
    }
    if (rest_.empty()) return true;
    if (rest_.front() != separator_) break;
    rest_.remove_prefix(1);
  }
  end_line();
  return true;
}

CsvField CsvRecords::plain_field() {
  std::size_t end = 0;
  while (end < rest_.size() && rest_[end] != separator_ && rest_[end] != '\n' &&
         rest_[end] != '\r') {
    ++end;
  }
  const CsvField field{trimmed(rest_.substr(0, end)), false};
  rest_.remove_prefix(end);
  return field;
}

CsvField CsvRecords::quoted_field() {
  const Where opening = Where::at(source_, line_, fields_.size() + 1);
  std::string* joined = nullptr;  // set once a doubled quote makes a copy necessary
  std::string_view text;
  for (;;) {
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      throw InvalidArgument("a quoted field is never closed", "Add the closing quote", opening);
    }
    text = rest_.substr(0, quote);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n' || (text[i] == '\r' && text.substr(i, 2) != "\r\n")) ++line_;
    }
    rest_.remove_prefix(quote + 1);
    const bool doubled = rest_.starts_with('"');
    if (doubled && joined == nullptr) joined = &unescaped_.emplace_back();
    if (joined != nullptr) joined->append(text);
    if (!doubled) break;
    joined->push_back('"');
    rest_.remove_prefix(1);
  }
  if (joined != nullptr) text = *joined;
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t') &&
         rest_.front() != separator_) {
    rest_.remove_prefix(1);
  }
  if (!rest_.empty() && rest_.front() != separator_ && rest_.front() != '\n' &&
      rest_.front() != '\r') {
    throw InvalidArgument("text follows a closing quote", "Write a quote inside quotes twice",
                          opening);
  }
  return {text, true};
}

void CsvRecords::end_line() {
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++line_;
}

}  // namespace sfumato
