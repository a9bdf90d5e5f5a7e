#include "sfumato/report/csv_export.hpp"

#include <fmt/format.h>

#include <string_view>
#include <variant>

namespace sfumato {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

struct CellToCsv {
  std::string operator()(const Empty&) const { return {}; }
  std::string operator()(const std::string& text) const { return quoted(text); }
  std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
  std::string operator()(double input) const { return fmt::format("{}", input); }
  std::string operator()(const Claimed<double>& claimed) const {
    return fmt::format("{}", claimed.value);
  }
};

}  // namespace

std::string to_csv(const Table& table) {
  std::string csv;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    if (i > 0) csv += ',';
    csv += quoted(table.columns()[i].key);
  }
  csv += '\n';
  for (const auto& row : table.rows()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) csv += ',';
      csv += std::visit(CellToCsv{}, row[i].content());
    }
    csv += '\n';
  }
  return csv;
}

std::string to_csv(const Figure& figure) {
  const bool bars = figure.mark() == Mark::bars;
  const bool plane = figure.mark() == Mark::plane;
  std::string csv = bars    ? "series,lower,upper,height\n"
                    : plane ? "series,x,y,z\n"
                            : "series,x,y\n";
  for (const Series& series : figure.series()) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      csv += fmt::format("{},{}", quoted(series.key), series.x[i]);
      if (bars) csv += fmt::format(",{}", series.x[i + 1]);
      csv += fmt::format(",{}", series.y[i]);
      if (plane) csv += fmt::format(",{}", series.z[i]);
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace sfumato
