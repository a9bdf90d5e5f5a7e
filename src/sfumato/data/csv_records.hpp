#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sfumato {

struct CsvField {
  std::string_view text;  ///< without blanks around it, or what the quotes enclose
  bool quoted = false;
};

/// Splits CSV text into records of fields, whatever the fields mean. Quotes as in RFC 4180.
/// Assumes  `text` outlives the reader.
class CsvRecords {
 public:
  CsvRecords(std::string_view text, std::string source, char separator)
      : rest_(text), source_(std::move(source)), separator_(separator) {}

  /// Moves to the next record; false at the end. A blank line is a record of one empty field.
  /// Throws   InvalidArgument on broken quotes.
  bool next();

  /// The current record; valid until next().
  [[nodiscard]] const std::vector<CsvField>& fields() const { return fields_; }
  /// The line on which the current record begins, from 1.
  [[nodiscard]] std::size_t line() const { return record_line_; }
  [[nodiscard]] bool blank() const {
    return fields_.size() == 1 && !fields_[0].quoted && fields_[0].text.empty();
  }

 private:
  CsvField plain_field();
  CsvField quoted_field();
  void end_line();

  std::string_view rest_;
  std::string source_;
  char separator_;
  std::size_t line_ = 1;
  std::size_t record_line_ = 0;
  std::vector<CsvField> fields_;
  std::deque<std::string> unescaped_;  ///< fields with doubled quotes; a deque keeps views valid
};

}  // namespace sfumato
