#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  CsvWriter(const std::string& path, const std::vector<std::string>& columns);

  CsvWriter& number(double value);
  CsvWriter& integer(std::int64_t value);
  CsvWriter& text(std::string_view value);
  void end_row();
  void commit();

 private:
  void begin_cell();

  OutputFile file_;
  std::size_t width_;
  std::size_t cells_ = 0;
  std::string row_;
};

}  // namespace sfumato
