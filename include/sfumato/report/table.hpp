#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/report/number.hpp"

namespace sfumato {

/// No value here, and why, where the reason is not obvious: "does not apply: D' is singular".
struct Empty {
  std::string reason = {};
};

/// One entry of a table. Constructed implicitly, so that a row is written as a plain list.
class Cell {
 public:
  using Content = std::variant<Empty, std::string, std::int64_t, double, Claimed<double>>;

  Cell(Empty empty) : content_(std::move(empty)) {}
  Cell(std::string text) : content_(std::move(text)) {}
  Cell(std::string_view text) : content_(std::string(text)) {}
  Cell(const char* text) : content_(std::string(text)) {}
  /// Throws InternalError if it does not fit 64 signed bits.
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) Cell(T integer)
      : content_(checked_integer(integer)) {}
  /// A number that is exact by nature: an input, a time, a condition number.
  /// Throws InternalError for NaN, as do the claims.
  Cell(double input);
  Cell(Claimed<double> claimed);
  Cell(const Claimed<Nats>& claimed)
      : Cell(map(claimed, [](Nats divergence) { return divergence.value(); })) {}
  Cell(const Claimed<Epsilon>& claimed)
      : Cell(map(claimed, [](Epsilon epsilon) { return epsilon.nats(); })) {}
  Cell(const Claimed<Delta>& claimed)
      : Cell(map(claimed, [](Delta delta) { return delta.probability(); })) {}

  [[nodiscard]] const Content& content() const { return content_; }

 private:
  template <class T>
  static std::int64_t checked_integer(T integer) {
    if (!std::in_range<std::int64_t>(integer)) refuse_integer();
    return static_cast<std::int64_t>(integer);
  }
  [[noreturn]] static void refuse_integer();

  Content content_;
};

enum class Align { automatic, left, right };  ///< automatic: numbers right, text left

struct Column {
  std::string key;        ///< stable name for programs: JSON, CSV
  std::string title;      ///< for people
  std::string unit = {};  ///< "nats", "s"; empty for a pure number
  NumberStyle style = NumberStyle::general;
  Align align = Align::automatic;
};

class Table {
 public:
  /// `key` is the table's stable name in its document. The first `key_columns` columns tell what a
  /// row is about; a table too wide for the page repeats them in each part.
  /// Throws   InternalError if there is no column, or a column key is empty or occurs twice.
  Table(std::string key, std::string title, std::vector<Column> columns,
        std::size_t key_columns = 1);

  /// Throws   InternalError unless there is one cell per column.
  void add_row(std::vector<Cell> cells);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::size_t key_columns() const { return key_columns_; }
  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::string key_;
  std::string title_;
  std::vector<Column> columns_;
  std::size_t key_columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace sfumato
