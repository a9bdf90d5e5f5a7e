#pragma once

#include <string>

#include "sfumato/data/file_output.hpp"
#include "sfumato/rows/rows_answer.hpp"

namespace sfumato {

/// Writes one line per row, in the order of the table, every digit. `claim` is that of its numbers, but for those that
/// `upper_bounds` names: beside exact numbers they are upper bounds.
/// Throws StorageError if the file cannot be written.
void write_csv(const std::string& path, const RowsAnswer& answer, const WriteRules& rules = {});

}  // namespace sfumato
