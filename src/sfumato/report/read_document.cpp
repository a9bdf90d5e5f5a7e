#include "sfumato/report/read_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sfumato/core/error.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/printable.hpp"

namespace sfumato {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRemedy = "Pass the JSON output of a command";

/// A value of the file and where it stands in it.
class Node {
 public:
  Node(const Json& json, const std::string& source, std::string path)
      : json_(json), source_(source), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InvalidArgument(path_.empty() ? problem : fmt::format("{} {}", printable(path_), problem),
                          kRemedy, Where::in(source_));
  }

  [[nodiscard]] Node at(const char* key) const {
    if (!json_.is_object()) refuse("is not an object");
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(fmt::format("has no \"{}\"", key));
    return {*found, source_, path_.empty() ? key : path_ + "." + key};
  }
  [[nodiscard]] std::optional<Node> find(const char* key) const {
    if (!json_.is_object() || !json_.contains(key)) return std::nullopt;
    return at(key);
  }
  [[nodiscard]] std::vector<Node> list() const {
    if (!json_.is_array()) refuse("is not a list");
    std::vector<Node> nodes;
    nodes.reserve(json_.size());
    for (std::size_t i = 0; i < json_.size(); ++i) {
      nodes.emplace_back(json_[i], source_, fmt::format("{}[{}]", path_, i));
    }
    return nodes;
  }
  [[nodiscard]] std::string text() const {
    if (!json_.is_string()) refuse("is not a string");
    return json_.get<std::string>();
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Node& node : list()) all.push_back(node.text());
    return all;
  }
  [[nodiscard]] double number() const {
    if (json_.is_number()) return json_.get<double>();
    if (json_.is_string()) {
      if (json_ == "inf") return std::numeric_limits<double>::infinity();
      if (json_ == "-inf") return -std::numeric_limits<double>::infinity();
    }
    refuse("is not a number");
  }
  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> all;
    for (const Node& node : list()) all.push_back(node.number());
    return all;
  }
  [[nodiscard]] std::size_t count() const {
    if (!json_.is_number_unsigned()) refuse("is not a count");
    return json_.get<std::size_t>();
  }
  [[nodiscard]] const Json& json() const { return json_; }

  /// The value among `all` that has this name.
  template <class Enum, std::size_t N>
  [[nodiscard]] Enum one_of(const std::array<Enum, N>& all) const {
    const std::string word = text();
    for (const Enum value : all) {
      if (name(value) == word) return value;
    }
    refuse(fmt::format("is \"{}\", which is unknown", word));
  }

 private:
  const Json& json_;
  const std::string& source_;
  std::string path_;
};

constexpr std::array kClaims = {Claim::exact, Claim::upper_bound, Claim::lower_bound,
                                Claim::estimate};
constexpr std::array kMarks = {Mark::line, Mark::steps,   Mark::region, Mark::points,
                               Mark::bars, Mark::columns, Mark::plane,  Mark::image};
constexpr std::array kKinds = {StatementKind::info, StatementKind::warning,
                               StatementKind::assumption, StatementKind::verdict,
                               StatementKind::summary};
constexpr std::array kOutcomes = {Outcome::none, Outcome::good, Outcome::bad, Outcome::open};

/// Fills the parts of a claim other than its value; T is Claimed<double> or Series.
template <class T>
void read_claim(const Node& node, T& about) {
  about.claim = node.at("claim").one_of(kClaims);
  about.method = node.at("method").text();
  about.assumptions = node.at("assumptions").texts();
  const Node confidence = node.at("confidence");
  if (!confidence.json().is_null()) about.confidence = confidence.number();
}

Cell read_cell(const Node& node) {
  const Json& json = node.json();
  if (json.is_null()) return Empty{};
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() &&
        json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      node.refuse("exceeds 64 signed bits");
    }
    return json.get<std::int64_t>();
  }
  if (json.is_number()) return json.get<double>();
  if (json == "inf" || json == "-inf") return node.number();
  if (json.is_string()) return node.text();
  if (!json.is_object()) node.refuse("is not a cell");
  if (node.at("value").json().is_null()) return Empty{node.at("reason").text()};
  Claimed<double> claimed{node.at("value").number()};
  read_claim(node, claimed);
  return claimed;
}

Table read_table(const Node& node) {
  std::vector<Column> columns;
  for (const Node& item : node.at("columns").list()) {
    Column column{item.at("key").text(), item.at("title").text(), item.at("unit").text()};
    if (const auto style = item.find("style")) {
      if (style->text() != "probability") style->refuse("is not \"probability\"");
      column.style = NumberStyle::probability;
    }
    if (const auto align = item.find("align")) {
      const std::string word = align->text();
      if (word != "left" && word != "right") align->refuse("is neither \"left\" nor \"right\"");
      column.align = word == "left" ? Align::left : Align::right;
    }
    columns.push_back(std::move(column));
  }
  const auto key_columns = node.find("key_columns");
  Table table(node.at("key").text(), node.at("title").text(), columns,
              key_columns ? key_columns->count() : 1);
  for (const Node& item : node.at("rows").list()) {
    std::vector<Cell> row;
    row.reserve(columns.size());
    for (const Column& column : columns) row.push_back(read_cell(item.at(column.key.c_str())));
    table.add_row(std::move(row));
  }
  return table;
}

Axis read_axis(const Node& node) {
  Axis axis{node.at("title").text(), node.at("unit").text()};
  const Node scale = node.at("scale");
  if (scale.text() != "log" && scale.text() != "linear") scale.refuse("is neither log nor linear");
  if (scale.text() == "log") axis.scale = Scale::log;
  if (const auto categories = node.find("categories")) axis.categories = categories->texts();
  if (const auto from = node.find("from")) axis.from = from->number();
  if (const auto to = node.find("to")) axis.to = to->number();
  return axis;
}

std::optional<Intervals> read_intervals(const std::optional<Node>& node) {
  if (!node) return std::nullopt;
  return Intervals{node->at("low").numbers(), node->at("high").numbers()};
}

Series read_series(const Node& node) {
  Series series{node.at("key").text(), node.at("title").text(), node.at("x").numbers(),
                node.at("y").numbers()};
  read_claim(node, series);
  if (const auto z = node.find("z")) series.z = z->numbers();
  if (const auto mark = node.find("mark")) series.mark = mark->one_of(kMarks);
  series.x_intervals = read_intervals(node.find("x_intervals"));
  series.y_intervals = read_intervals(node.find("y_intervals"));
  if (const auto labels = node.find("labels")) series.labels = labels->texts();
  return series;
}

/// A text as JSON has it, where mathematics is not marked.
Text unmarked(const Node& node) { return Text().add(Unmarked{node.text()}); }

Figure read_figure(const Node& node) {
  const Node axes = node.at("axes");
  const auto z = axes.find("z");
  Figure figure(node.at("key").text(), node.at("title").text(), node.at("mark").one_of(kMarks),
                read_axis(axes.at("x")), read_axis(axes.at("y")),
                z ? std::optional(read_axis(*z)) : std::nullopt);
  if (const auto caption = node.find("caption")) figure.set_caption(unmarked(*caption));
  if (const auto layout = node.find("layout")) {
    if (layout->text() != "multiples") layout->refuse("is not \"multiples\"");
    figure.set_layout(Layout::multiples);
  }
  for (const Node& item : node.at("series").list()) figure.add(read_series(item));
  return figure;
}

Block read_block(const Node& node) {
  const std::string type = node.at("type").text();
  if (type == "table") return read_table(node);
  if (type == "figure") return read_figure(node);
  if (type != "statement") node.at("type").refuse(fmt::format("is \"{}\", which is unknown", type));
  const auto outcome = node.find("outcome");
  return Statement{node.at("kind").one_of(kKinds), unmarked(node.at("text")),
                   outcome ? outcome->one_of(kOutcomes) : Outcome::none};
}

/// The keys of a claim in a flat result; the others say what it is of.
constexpr std::array kResultKeys = {"quantity", "value",  "reason",      "claim",
                                    "symbol",   "method", "assumptions", "confidence"};

void read_result(const Node& node, Document& document) {
  std::vector<std::pair<std::string, Cell>> of;
  for (const auto& [key, value] : node.json().items()) {
    (void)value;
    if (std::find(kResultKeys.begin(), kResultKeys.end(), key) != kResultKeys.end()) continue;
    of.emplace_back(key, read_cell(node.at(key.c_str())));
  }
  const bool plain = !node.find("claim") && !node.find("reason");
  document.add(Result{node.at("quantity").text(), std::move(of),
                      read_cell(plain ? node.at("value") : node)});
}

Abstract read_abstract(const Node& node) {
  const auto text = [&](const char* key) {
    const auto found = node.find(key);
    return found ? unmarked(*found) : Text();
  };
  if (!node.json().is_object()) node.refuse("is not an object");
  return {text("released"), text("asked"), text("answer"), text("cost"), text("advice")};
}

CheckedClaim read_verdict(const Node& node) {
  constexpr std::array kVerdicts = {Verdict::none, Verdict::holds, Verdict::not_refuted,
                                    Verdict::open, Verdict::violated};
  const auto optional = [&](const char* key) {
    const Node value = node.at(key);
    return value.json().is_null() ? std::nullopt : std::optional(value.number());
  };
  const std::optional<Node> control = node.find("control");
  if (control && !control->json().is_boolean()) control->refuse("is not true or false");
  return {node.at("policy").text(),
          node.at("claim").text(),
          node.at("outcome").one_of(kVerdicts),
          optional("epsilon_lower"),
          optional("maximum"),
          optional("confidence"),
          control && control->json().get<bool>()};
}

}  // namespace

Document read_document(std::string_view json, const std::string& source) {
  const Json parsed = Json::parse(json, nullptr, false);
  const Node root(parsed, source, "");
  if (parsed.is_discarded()) root.refuse("this is not JSON");
  if (!parsed.is_object() || !parsed.contains("schema_version") || !parsed.contains("blocks")) {
    root.refuse("this JSON is not a document of sfumato");
  }
  if (root.at("schema_version").count() > std::size_t{kDocumentSchemaVersion}) {
    throw InvalidArgument(fmt::format("schema_version is {}, and this program reads up to {}",
                                      root.at("schema_version").count(), kDocumentSchemaVersion),
                          "Use the version of sfumato that wrote it", Where::in(source));
  }
  Document document(root.at("command").text(), root.at("title").text());
  if (const auto abstract = root.find("abstract")) document.set_abstract(read_abstract(*abstract));
  const Node provenance = root.at("provenance");
  if (!provenance.json().is_object()) provenance.refuse("is not an object");
  for (const auto& [key, value] : provenance.json().items()) {
    document.add_provenance(key, provenance.at(key.c_str()).text());
  }
  if (const auto results = root.find("results")) {
    for (const Node& node : results->list()) {
      if (!node.json().is_object()) node.refuse("is not an object");
      read_result(node, document);
    }
  }
  if (const auto verdicts = root.find("verdicts")) {
    for (const Node& node : verdicts->list()) document.add_verdict(read_verdict(node));
  }
  for (const Node& node : root.at("blocks").list()) {
    try {
      document.add(read_block(node));
    } catch (const InternalError& error) {
      // What only a bug of the program could do wrong, a file can: it is the file's fault here.
      node.refuse("is inconsistent: " + error.problem().text);
    }
  }
  return document;
}

}  // namespace sfumato
