#include "sfumato/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

Eigen::Index column_of(const DataTable& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found != table.columns.end()) return found - table.columns.begin();
  throw InvalidArgument(fmt::format("there is no column {}", shown(name)),
                        suggestion(name, table.columns, "columns"), Where::in(table.source));
}

}  // namespace sfumato
