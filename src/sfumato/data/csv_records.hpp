#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/memory_table.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

struct CsvField {
  std::string_view text;  ///< without blanks around it, or what the quotes enclose
  bool quoted = false;
  bool is_number = false;  ///< of a table in memory: a finite number, which has no text
  double number = 0.0;
};

/// The number in a field.
[[nodiscard]] inline ParsedNumber number_of(const CsvField& field, char decimal = '.') {
  return field.is_number ? ParsedNumber{field.number, NumberStatus::ok}
                         : parse_number(field.text, decimal);
}

/// Splits CSV text into records of fields, whatever the fields mean; quotes as in RFC 4180. Or goes through a table in memory as if it were
/// such a text, with its names first and every field in quotes.
/// Assumes  `text` and `table` outlive the reader.
class CsvRecords {
 public:
  CsvRecords(std::string_view text, std::string source, char separator)
      : rest_(text), source_(std::move(source)), separator_(separator) {}
  /// Throws   InvalidArgument unless there is a column and all are equally long.
  CsvRecords(const MemoryTable& table, std::string source);

  /// Moves to the next record; false at the end. A blank line is a record of one empty field.
  /// Throws   InvalidArgument on broken quotes.
  bool next();

  /// The current record; valid until next().
  [[nodiscard]] const std::vector<CsvField>& fields() const { return fields_; }
  /// The line on which the current record begins, from 1.
  [[nodiscard]] std::size_t line() const { return record_line_; }
  /// The text of a field of the current record; that of a number in memory is the shortest that reads back to it. Valid until next().
  [[nodiscard]] std::string_view text(std::size_t field);
  [[nodiscard]] const std::string& source() const { return source_; }
  /// Where the current record is, or a field of it, from 1, as people find it: rows of a table in memory count from 0.
  [[nodiscard]] Where place(std::size_t field = 0) const { return place(record_line_, field); }
  [[nodiscard]] Where place(std::size_t line, std::size_t field) const;
  [[nodiscard]] bool in_memory() const { return table_ != nullptr; }
  [[nodiscard]] bool blank() const {
    return fields_.size() == 1 && !fields_[0].quoted && fields_[0].text.empty();
  }

 private:
  bool next_in_memory();
  CsvField plain_field();
  CsvField quoted_field();
  void end_line();

  std::string_view rest_;
  const MemoryTable* table_ = nullptr;  ///< in the place of `rest_`
  std::string source_;
  char separator_ = ',';
  std::size_t line_ = 1;
  std::size_t record_line_ = 0;
  std::size_t records_ = 0;  ///< so far, to look now and then whether to stop
  std::vector<CsvField> fields_;
  std::deque<std::string>
      unescaped_;  ///< fields with doubled quotes, or of numbers; a deque keeps views valid
};

}  // namespace sfumato
