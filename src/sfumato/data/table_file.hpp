#pragma once

#include <string>

namespace sfumato {

/// A table's path as messages have it: "standard input" for "-".
[[nodiscard]] std::string table_source(const std::string& path);

/// The text of a table: a file, or standard input for "-"; gzip and xz are told by their first bytes and
/// decompressed.
///
/// Throws   InvalidArgument with the way to convert it for Parquet and spreadsheets; as read_file(),
///          read_standard_input() and decompressed().
[[nodiscard]] std::string read_table_file(const std::string& path);

/// ".csv" for "a.csv", "a.CSV.gz" and "-", ".npy" for "a.npy".
[[nodiscard]] std::string table_suffix(const std::string& path);

}  // namespace sfumato
