#include "tables.hpp"

#include <cmath>
#include <cstdint>

#include "bindings.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/csv_records.hpp"
#include "sfumato/data/csv_writer.hpp"

namespace sfumato::python {

MemoryTable memory_table_of(const PythonTable& table) {
  const auto& [names, columns] = table;
  if (names.size() != columns.size()) {
    throw InvalidArgument("a table has a name for each of its columns", "");
  }
  MemoryTable memory;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&columns[i])) {
      memory.columns.push_back({names[i], *texts});
    } else {
      const auto& numbers = std::get<0>(columns[i]);
      memory.columns.push_back(
          {names[i], MemoryNumbers{numbers.data(), numbers.shape(0), numbers.stride(0)}});
    }
  }
  return memory;
}

namespace {

/// A small table as a CSV file, for questions that name one beside their table; every digit is kept, and what is missing is an empty field.
void write_table(const std::string& path, const std::vector<std::string>& names,
                 const std::vector<TableColumn>& columns) {
  const MemoryTable table = memory_table_of({names, columns});
  CsvRecords records(table, "table");
  CsvWriter out(path, names);
  for (records.next(); records.next(); out.end_row()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const CsvField& field = records.fields()[i];
      field.is_number ? out.number(field.number) : out.text(field.text);
    }
  }
  out.commit();
}

}  // namespace

void bind_tables(nb::module_& module) {
  module.def("write_table", &write_table, nb::arg("path"), nb::arg("names"), nb::arg("columns"));
}

}  // namespace sfumato::python
