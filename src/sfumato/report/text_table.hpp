#pragma once

#include <cstddef>
#include <string>

#include "sfumato/report/table.hpp"

namespace sfumato {

/// One table as aligned text with its notes; see render_text.
[[nodiscard]] std::string render_table(const Table& table, std::size_t width);

}  // namespace sfumato
