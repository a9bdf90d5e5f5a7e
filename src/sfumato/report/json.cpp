#include "sfumato/report/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isnan(value)) throw InternalError("a NaN reached the JSON renderer");
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

/// The keys of a claim that follow its value; T is Claimed<double> or Series.
template <class T>
void put_claim(Json& json, const T& about) {
  json["claim"] = name(about.claim);
  json["symbol"] = symbol(about.claim);
  json["method"] = about.method;
  json["assumptions"] = about.assumptions;
  json["confidence"] = about.confidence ? number(*about.confidence) : Json(nullptr);
}

struct CellToJson {
  Json operator()(const Empty& empty) const {
    if (empty.reason.empty()) return nullptr;
    return {{"value", nullptr}, {"reason", empty.reason}};
  }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(std::int64_t integer) const { return integer; }
  Json operator()(double input) const { return number(input); }
  Json operator()(const Claimed<double>& claimed) const {
    Json json;
    json["value"] = number(claimed.value);
    put_claim(json, claimed);
    return json;
  }
};

Json axis_to_json(const Axis& axis) {
  Json json{{"title", axis.title},
            {"unit", axis.unit},
            {"scale", axis.scale == Scale::log ? "log" : "linear"}};
  if (!axis.categories.empty()) json["categories"] = axis.categories;
  if (axis.from) json["from"] = number(*axis.from);
  if (axis.to) json["to"] = number(*axis.to);
  return json;
}

void put_intervals(Json& json, const char* key, const std::optional<Intervals>& intervals) {
  if (!intervals) return;
  json[key] = {{"low", numbers(intervals->low)}, {"high", numbers(intervals->high)}};
}

struct BlockToJson {
  KeyStyle keys;
  Json operator()(const Table& table) const {
    Json json{{"type", "table"}, {"key", table.key()}, {"title", table.title()}};
    if (table.key_columns() != 1) json["key_columns"] = table.key_columns();
    json["columns"] = Json::array();
    for (const Column& column : table.columns()) {
      Json item{{"key", column.key}, {"title", column.title}, {"unit", column.unit}};
      if (column.style == NumberStyle::probability) item["style"] = "probability";
      if (column.align != Align::automatic) {
        item["align"] = column.align == Align::left ? "left" : "right";
      }
      json["columns"].push_back(std::move(item));
    }
    json["rows"] = Json::array();
    for (const auto& row : table.rows()) {
      Json cells;
      for (std::size_t i = 0; i < row.size(); ++i) {
        cells[table.columns()[i].key] = std::visit(CellToJson{}, row[i].content());
      }
      json["rows"].push_back(std::move(cells));
    }
    return json;
  }
  Json operator()(const Figure& figure) const {
    Json json{{"type", "figure"},
              {"key", figure.key()},
              {"title", figure.title()},
              {"mark", name(figure.mark())}};
    if (figure.layout() == Layout::multiples) json["layout"] = "multiples";
    if (!figure.caption().empty()) json["caption"] = figure.caption().plain(keys);
    json["axes"] = {{"x", axis_to_json(figure.x())}, {"y", axis_to_json(figure.y())}};
    if (figure.z()) json["axes"]["z"] = axis_to_json(*figure.z());
    json["series"] = Json::array();
    for (const Series& series : figure.series()) {
      Json item{{"key", series.key}, {"title", series.title}};
      if (series.mark) item["mark"] = name(*series.mark);
      put_claim(item, series);
      item["x"] = numbers(series.x);
      item["y"] = numbers(series.y);
      if (!series.z.empty()) item["z"] = numbers(series.z);
      put_intervals(item, "x_intervals", series.x_intervals);
      put_intervals(item, "y_intervals", series.y_intervals);
      if (!series.labels.empty()) item["labels"] = series.labels;
      json["series"].push_back(std::move(item));
    }
    return json;
  }
  Json operator()(const Statement& statement) const {
    Json json{
        {"type", "statement"}, {"kind", name(statement.kind)}, {"text", statement.plain(keys)}};
    if (statement.outcome != Outcome::none) json["outcome"] = name(statement.outcome);
    return json;
  }
};

/// A flat row: what it is of, its value, and the keys of its claim.
Json result_to_json(const Result& result) {
  Json json{{"quantity", result.quantity}};
  for (const auto& [key, subject] : result.of) {
    json[key] = std::visit(CellToJson{}, subject.content());
  }
  const Json value = std::visit(CellToJson{}, result.value.content());
  if (value.is_object()) {
    json.update(value);
  } else {
    json["value"] = value;
  }
  return json;
}

Json abstract_to_json(const Abstract& abstract, KeyStyle keys) {
  Json json = Json::object();
  for (const auto& [key, text] :
       {std::pair("released", abstract.released), std::pair("asked", abstract.asked),
        std::pair("answer", abstract.answer), std::pair("cost", abstract.cost),
        std::pair("advice", abstract.advice)}) {
    if (!text.empty()) json[key] = text.plain(keys);
  }
  return json;
}

Json verdict_to_json(const CheckedClaim& verdict) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? number(*value) : Json(nullptr);
  };
  Json json{{"policy", verdict.policy},
            {"claim", verdict.claim},
            {"outcome", name(verdict.outcome)},
            {"epsilon_lower", optional(verdict.epsilon_lower)},
            {"maximum", optional(verdict.maximum)},
            {"confidence", optional(verdict.confidence)}};
  if (verdict.control) json["control"] = true;
  return json;
}

}  // namespace

std::string render_json(const Document& document, KeyStyle keys) {
  Json json{{"schema_version", kDocumentSchemaVersion},
            {"command", document.command()},
            {"title", document.title()}};
  if (document.abstract()) json["abstract"] = abstract_to_json(*document.abstract(), keys);
  json["provenance"] = Json::object();
  for (const auto& [key, value] : document.provenance()) json["provenance"][key] = value;
  json["results"] = Json::array();
  for (const Result& result : document.results()) json["results"].push_back(result_to_json(result));
  json["verdicts"] = Json::array();
  for (const CheckedClaim& verdict : document.verdicts()) {
    json["verdicts"].push_back(verdict_to_json(verdict));
  }
  json["blocks"] = Json::array();
  for (const Block& block : document.blocks()) {
    json["blocks"].push_back(std::visit(BlockToJson{keys}, block));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sfumato
