#include "sfumato/report/csv_export.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace sfumato {
namespace {

std::string csv_field(std::string_view text) {
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
  std::string operator()(const std::string& text) const { return csv_field(text); }
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
    csv += csv_field(table.columns()[i].key);
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
  const bool has_z = figure.z().has_value();
  bool x_intervals = false, y_intervals = false, labels = false;
  for (const Series& series : figure.series()) {
    x_intervals = x_intervals || series.x_intervals;
    y_intervals = y_intervals || series.y_intervals;
    labels = labels || !series.labels.empty();
  }
  std::string csv = bars ? "series,lower,upper,height" : "series,x,y";
  if (has_z) csv += ",z";
  if (x_intervals) csv += ",x_low,x_high";
  if (y_intervals) csv += ",y_low,y_high";
  if (labels) csv += ",label";
  csv += '\n';
  const auto position = [&](double x) {
    const std::vector<std::string>& names = figure.x().categories;
    return names.empty() ? fmt::format("{}", x) : csv_field(names[static_cast<std::size_t>(x)]);
  };
  const auto interval = [](const std::optional<Intervals>& of, std::size_t i) {
    return of ? fmt::format(",{},{}", of->low[i], of->high[i]) : std::string(",,");
  };
  for (const Series& series : figure.series()) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      csv += fmt::format("{},{}", csv_field(series.key), position(series.x[i]));
      if (bars) csv += fmt::format(",{}", series.x[i + 1]);
      csv += fmt::format(",{}", series.y[i]);
      if (has_z) csv += series.z.empty() ? "," : fmt::format(",{}", series.z[i]);
      if (x_intervals) csv += interval(series.x_intervals, i);
      if (y_intervals) csv += interval(series.y_intervals, i);
      if (labels)
        csv += "," + (series.labels.empty() ? std::string() : csv_field(series.labels[i]));
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace sfumato
