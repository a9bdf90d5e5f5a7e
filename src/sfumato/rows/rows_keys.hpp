#pragma once

#include <cstddef>

#include "sfumato/data/keys/key.hpp"
#include "sfumato/rows/rows_question.hpp"

namespace sfumato {

[[nodiscard]] const Keys<RowsQuestion>& rows_keys();

/// Reads the keys of a question; with a goal, noise may be left out.
/// Throws   as read_keys().
void read_rows_question(RowsQuestion& into, const TomlTable& table);

/// Refuses values and combinations that make no sense, before any work.
/// Throws   InvalidArgument that names the key.
void require_sense(const RowsQuestion& question);

/// How many of the riskiest rows are simulated.
[[nodiscard]] std::size_t checks_of(const RowsQuestion& question);

}  // namespace sfumato
