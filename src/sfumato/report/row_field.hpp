#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What a number is of, for programs: {"row", 383}, {"delta", 1e-5}.
using Subject = std::pair<std::string, Cell>;

/// One number (or name) of a row, described once: the column of every table that shows it and the result that programs
/// read follow from it, as a Key is described once for the command line, files and Python.
template <class Row, class Value = Cell>
struct RowField {
  std::string key;                      ///< of its column: stable, for programs
  std::string title;                    ///< of its column, for people
  std::function<Value(const Row&)> of;  ///< the number with its claim, or why there is none
  std::string unit = {};                ///< "nats"; empty of a pure number
  NumberStyle style = NumberStyle::general;
  Align align = Align::automatic;
  bool full = true;              ///< whether tables in full show it
  int brief = 0;                 ///< its place in the brief table, from 1; 0: it is not there
  std::string result = {};       ///< the quantity that it is for programs; empty: none
  std::vector<Subject> at = {};  ///< of a result, beside its row: at which delta, which epsilon
};

template <class Row, class Value = Cell>
using RowFields = std::vector<RowField<Row, Value>>;

/// The fields that a table of this detail shows, in its order.
template <class Row, class Value>
[[nodiscard]] RowFields<Row, Value> shown(const RowFields<Row, Value>& fields, Detail detail) {
  RowFields<Row, Value> list;
  for (const RowField<Row, Value>& field : fields) {
    if (detail == Detail::full ? field.full : field.brief > 0) list.push_back(field);
  }
  if (detail == Detail::brief) {
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.brief < b.brief; });
  }
  return list;
}

/// The fields that are results.
template <class Row, class Value>
[[nodiscard]] RowFields<Row, Value> results_of(const RowFields<Row, Value>& fields) {
  RowFields<Row, Value> list;
  for (const RowField<Row, Value>& field : fields) {
    if (!field.result.empty()) list.push_back(field);
  }
  return list;
}

/// Several lists, one after the other.
template <class Row, class Value>
[[nodiscard]] RowFields<Row, Value> joined(RowFields<Row, Value> list,
                                           const RowFields<Row, Value>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

/// The same field with another getter, perhaps of another row.
template <class Row, class Value, class OldRow, class OldValue, class Getter>
[[nodiscard]] RowField<Row, Value> with_getter(const RowField<OldRow, OldValue>& f, Getter of) {
  return {f.key, f.title, std::move(of), f.unit, f.style, f.align, f.full, f.brief, f.result, f.at};
}

/// The field of a row that holds such a row, which `part` takes from it.
template <class Whole, class Row, class Value, class Part>
[[nodiscard]] RowField<Whole, Value> through(Part part, const RowField<Row, Value>& field) {
  return with_getter<Whole, Value>(
      field, [part, of = field.of](const Whole& whole) { return of(std::invoke(part, whole)); });
}

/// What is known, or why nothing is.
template <class T>
[[nodiscard]] Cell cell_of(const Known<T>& known) {
  return known.value ? Cell(*known.value) : Cell(Empty{known.reason});
}

/// The number without how it was computed, where a sentence says that of the whole table.
[[nodiscard]] inline Cell without_method(const Cell& cell) {
  const auto* claimed = std::get_if<Claimed<double>>(&cell.content());
  if (claimed == nullptr) return cell;
  Claimed<double> bare = *claimed;
  bare.method.clear();
  return bare;
}
template <class Row>
[[nodiscard]] RowFields<Row> without_methods(RowFields<Row> fields) {
  for (RowField<Row>& field : fields) {
    field.of = [of = std::move(field.of)](const Row& row) { return without_method(of(row)); };
  }
  return fields;
}

/// The number and its claim alone: nothing that needs a note.
[[nodiscard]] inline Cell bare(const Cell& cell) {
  const auto* claimed = std::get_if<Claimed<double>>(&cell.content());
  return claimed == nullptr ? cell : Cell(Claimed<double>{claimed->value, claimed->claim});
}
template <class Row>
[[nodiscard]] RowFields<Row> bare_fields(RowFields<Row> fields) {
  for (RowField<Row>& field : fields) {
    field.of = [of = std::move(field.of)](const Row& row) { return bare(of(row)); };
  }
  return fields;
}

/// Head and cells from one list: a row of the table for each row. The first `key_columns` say what a row is about.
template <class Row, class Rows>
[[nodiscard]] Table table_of(std::string key, std::string title, const RowFields<Row>& fields,
                             const Rows& rows, std::size_t key_columns = 1) {
  std::vector<Column> columns;
  for (const RowField<Row>& f : fields)
    columns.push_back({f.key, f.title, f.unit, f.style, f.align});
  Table table(std::move(key), std::move(title), std::move(columns), key_columns);
  for (const Row& row : rows) {
    std::vector<Cell> cells;
    for (const RowField<Row>& field : fields) cells.push_back(field.of(row));
    table.add_row(std::move(cells));
  }
  return table;
}

/// A table about one thing: a row for each of its fields, with what it is and its number. Those that say nothing are left
/// out.
template <class Row>
[[nodiscard]] Table quantities_of(std::string key, std::string title, const RowFields<Row>& fields,
                                  const Row& row, Align align = Align::right) {
  Table table(std::move(key), std::move(title),
              {{"quantity", "quantity"}, {"value", "value", "", NumberStyle::general, align}});
  for (const RowField<Row>& field : fields) {
    Cell value = field.of(row);
    const auto* empty = std::get_if<Empty>(&value.content());
    if (empty == nullptr || !empty->reason.empty()) table.add_row({field.title, std::move(value)});
  }
  return table;
}

/// The field with this key, as the column of another table calls it.
template <class Row>
[[nodiscard]] RowField<Row> field_called(const RowFields<Row>& fields, std::string_view key,
                                         std::string title) {
  for (RowField<Row> field : fields) {
    if (field.key != key) continue;
    field.title = std::move(title);
    return field;
  }
  throw InternalError(fmt::format("no field is called {}", key));
}

/// What becomes of a result that has no number.
enum class Missing { left_out, stated };

/// The results among the fields of one row, which `subject` names.
template <class Row>
void add_results(Document& document, const RowFields<Row>& fields, const Row& row,
                 const std::vector<Subject>& subject, Missing missing) {
  for (const RowField<Row>& field : results_of(fields)) {
    Cell value = field.of(row);
    const bool empty = std::holds_alternative<Empty>(value.content());
    if (empty && missing == Missing::left_out) continue;
    std::vector<Subject> of = subject;
    of.insert(of.end(), field.at.begin(), field.at.end());
    document.add_result(field.result, std::move(value), std::move(of));
  }
}

/// The field of all rows over `x` of each, as a curve called by its key and title. It claims what its weakest number does;
/// rows without a number are left out.
template <class Row, class Rows, class X>
[[nodiscard]] Series series_of(const RowField<Row>& field, const Rows& rows, X x) {
  Series series{field.key, field.title, {}, {}};
  for (const Row& row : rows) {
    const Cell cell = field.of(row);
    const auto* y = std::get_if<Claimed<double>>(&cell.content());
    if (y == nullptr) continue;
    series.x.push_back(std::invoke(x, row));
    series.y.push_back(y->value);
    series.method = y->method;
    if (y->claim != Claim::exact) series.claim = y->claim;
  }
  return series;
}

}  // namespace sfumato
