#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/data/memory_table.hpp"

namespace sfumato::python {

/// A column of Python: a vector of doubles, NaN where a value is missing, or texts, empty where one is.
using TableColumn =
    std::variant<nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::device::cpu>,
                 std::vector<std::string>>;

/// Names and columns.
using PythonTable = std::pair<std::vector<std::string>, std::vector<TableColumn>>;

/// The table as the library reads it: numbers stay where they are, in arrays that must outlive it.
/// Throws   InvalidArgument unless there is a name for each column.
[[nodiscard]] MemoryTable memory_table_of(const PythonTable& table);

}  // namespace sfumato::python
