#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/csv_writer.hpp"

namespace sfumato::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
using TableColumn = std::variant<Numbers, std::vector<std::string>>;

std::size_t size_of(const TableColumn& column) {
  const auto* numbers = std::get_if<Numbers>(&column);
  return numbers != nullptr ? numbers->shape(0) : std::get<std::vector<std::string>>(column).size();
}

/// A table in memory as a CSV file, which every question about tables reads; every digit is kept, and NaN, a missing
/// value of data frames, is an empty field.
void write_table(const std::string& path, const std::vector<std::string>& names,
                 const std::vector<TableColumn>& columns) {
  if (names.size() != columns.size() || columns.empty()) {
    throw InvalidArgument("a table has a name for each of its columns, and at least one", "");
  }
  const std::size_t rows = size_of(columns.front());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (size_of(columns[i]) != rows) {
      throw InvalidArgument("column \"" + names[i] + "\" has " +
                                std::to_string(size_of(columns[i])) + " entries, the first has " +
                                std::to_string(rows),
                            "Columns of a table are equally long", Where::here("table"));
    }
  }
  nb::gil_scoped_release release;
  CsvWriter out(path, names);
  for (std::size_t row = 0; row < rows; ++row) {
    for (const TableColumn& column : columns) {
      if (const auto* numbers = std::get_if<Numbers>(&column)) {
        const double value = numbers->data()[static_cast<std::int64_t>(row) * numbers->stride(0)];
        std::isnan(value) ? out.text("") : out.number(value);
      } else {
        out.text(std::get<std::vector<std::string>>(column)[row]);
      }
    }
    out.end_row();
  }
  out.commit();
}

}  // namespace

void bind_tables(nb::module_& module) {
  module.def("write_table", &write_table, nb::arg("path"), nb::arg("names"), nb::arg("columns"));
}

}  // namespace sfumato::python
