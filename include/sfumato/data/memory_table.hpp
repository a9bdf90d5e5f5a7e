#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace sfumato {

/// Numbers where they stand, `stride` doubles apart; NaN: missing.
struct MemoryNumbers {
  const double* first = nullptr;
  std::size_t count = 0;
  std::ptrdiff_t stride = 1;
};

/// One column of a table in memory.
struct MemoryColumn {
  std::string name;
  /// Texts mean what they mean in a CSV file: "1.5" is a number; nothing, NA and the like are missing.
  std::variant<MemoryNumbers, std::vector<std::string>> values;

  [[nodiscard]] std::size_t size() const {
    const auto* numbers = std::get_if<MemoryNumbers>(&values);
    return numbers != nullptr ? numbers->count : std::get<std::vector<std::string>>(values).size();
  }
};

/// A table in memory in the place of a file: read and checked as a CSV file with a header row is, and messages count lines as if
/// it were one (the first record is on line 2).
/// Assumes  numbers stay where they are while a question is answered.
struct MemoryTable {
  std::vector<MemoryColumn> columns;  ///< equally long, at least one
};

}  // namespace sfumato
