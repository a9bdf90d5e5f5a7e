#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"

namespace sfumato {

/// Streams a CSV file with a header row, cell by cell:
///
///   CsvWriter out("risks.csv", {"row", "kl", "note"});
///   out.integer(17).number(0.25).text("riskiest").end_row();
///   out.commit();
///
/// Numbers are the shortest text that reads back to the same double; infinities are `inf` and
/// `-inf`. Text is quoted where RFC 4180 asks for it. Nothing is at `path` before commit().
///
/// Throws   InvalidArgument if a row has not as many cells as there are columns; StorageError as
///          OutputFile.
class CsvWriter {
 public:
  CsvWriter(const std::string& path, const std::vector<std::string>& columns,
            const WriteRules& rules = {});
  /// In memory: bytes() has what commit() would have written.
  explicit CsvWriter(const std::vector<std::string>& columns);

  CsvWriter& number(double value);
  CsvWriter& integer(std::int64_t value);
  CsvWriter& text(std::string_view value);
  void end_row();
  void commit();
  [[nodiscard]] const std::string& bytes() const { return kept_; }

 private:
  void begin_table(const std::vector<std::string>& columns, const Where& where);
  void begin_cell();

  std::optional<OutputFile> file_;
  std::string kept_;  ///< where there is no file
  std::size_t width_;
  std::size_t cells_ = 0;
  std::string row_;
};

}  // namespace sfumato
