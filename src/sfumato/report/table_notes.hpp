#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sfumato/report/table.hpp"

namespace sfumato {

/// The distinct notes of a table, numbered from 1 in order of first use.
class Notes {
 public:
  [[nodiscard]] std::size_t number(const std::string& note);
  [[nodiscard]] const std::vector<std::string>& all() const { return notes_; }

 private:
  std::vector<std::string> notes_;
};

/// Method, assumptions and confidence of a claim in one line made printable; empty if it has none.
[[nodiscard]] std::string note_of(const Claimed<double>& claimed);

/// The note that all claimed cells of a column share, if they do.
[[nodiscard]] std::optional<std::string> common_note(const Table& table, std::size_t column);

/// Whether a column is set flush right: as it says, or because it holds numbers and no text.
[[nodiscard]] bool is_right_aligned(const Table& table, std::size_t column);

}  // namespace sfumato
