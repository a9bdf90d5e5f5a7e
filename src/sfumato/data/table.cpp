#include "sfumato/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "sfumato/core/error.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {

namespace {

[[noreturn]] void refuse_unknown(const DataTable& table, std::string_view name) {
  throw InvalidArgument(fmt::format("there is no column {}", shown(name)),
                        suggestion(name, table.columns, "columns"), Where::in(table.source));
}

}  // namespace

Eigen::Index column_of(const DataTable& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found == table.columns.end()) refuse_unknown(table, name);
  return found - table.columns.begin();
}

std::vector<Eigen::Index> columns_of(const DataTable& table,
                                     const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, Eigen::Index> places;
  places.reserve(table.columns.size());
  for (const std::string& column : table.columns) places.emplace(column, std::ssize(places));
  std::vector<Eigen::Index> result;
  result.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = places.find(name);
    if (found == places.end()) refuse_unknown(table, name);
    result.push_back(found->second);
  }
  return result;
}

}  // namespace sfumato
