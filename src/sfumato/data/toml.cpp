#include "sfumato/data/toml.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

#include "sfumato/core/located.hpp"
#include "sfumato/core/suggest.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/text.hpp"
#include "sfumato/data/toml_unicode.hpp"

namespace sfumato {
namespace {

/// An option that stands for the key is wrong usage, `--set train.seed=x` is a wrong value.
Where place_of(const TomlOverride& override) {
  return override.is_option ? Where::option(override.source) : Where::in(override.source);
}

/// What a complaint is about: a key, or a part of its value.
struct Subject {
  std::string key;        ///< by its path
  std::string part = {};  ///< "entry 3 of row 2 of "

  [[nodiscard]] Error::Problem with(const std::string& joint, const std::string& text) const {
    if (part.empty()) return {key, joint, text};
    return fmt::format("{}`{}`{}{}", part, key, joint, text);
  }
  [[nodiscard]] Subject entry(const char* kind, std::size_t i) const {
    return {key, fmt::format("{} {} of {}", kind, i + 1, part)};
  }
};

const char* type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "a boolean";
    default: return "a date or time";
  }
}

}  // namespace

/// One table of a document that all its tables keep alive. Keys and strings in it are lifted().
struct TomlTable::Content {
  std::shared_ptr<const toml::table> root;
  const toml::table* table;
  std::string source;
  std::string prefix;  ///< "noise." for the keys of [noise]
  /// What options gave, and whether there is anything else: places in an empty text say nothing.
  std::shared_ptr<const std::vector<std::string>> options;
  bool has_text;

  [[nodiscard]] Subject subject(std::string_view key) const {
    return {escaped(prefix + std::string(key))};
  }
  [[nodiscard]] std::string label(std::string_view key) const {
    return fmt::format("`{}`", subject(key).key);
  }

  [[nodiscard]] Where at(const toml::source_region& region) const {
    if (!region.path) {
      return has_text ? Where::at(source, region.begin.line, region.begin.column)
                      : Where::in(source);
    }
    const std::string given = lowered(*region.path);
    const bool is_option = std::find(options->begin(), options->end(), given) != options->end();
    return is_option ? Where::option(given) : Where::in(given);
  }

  /// A table in this one, whose keys have that prefix.
  [[nodiscard]] TomlTable inner(const toml::table* found, const std::string& of) const;

  [[nodiscard]] const toml::node* find(std::string_view key) const {
    return table->get(lifted(key, source));
  }

  /// Where a file that the document mentions is: relative to the document, unless absolute or an
  /// override's.
  [[nodiscard]] std::string path_of(const toml::value<std::string>& node) const {
    const std::string& file = node.get();
    if (node.source().path) return lowered(file);
    return (std::filesystem::path(source).parent_path() / lowered(file)).string();
  }

  [[nodiscard]] const toml::node& node(std::string_view key) const {
    if (const toml::node* found = find(key)) return *found;
    throw InvalidArgument(fmt::format("the key {} is missing", label(key)), "Add it",
                          at(table->source()));
  }

  [[noreturn]] void mismatch(const Subject& what, const toml::node& node,
                             std::string_view expected) const {
    throw InvalidArgument(what.with(" ", fmt::format("is {}", type_name(node))),
                          fmt::format("Give {}", expected), at(node.source()));
  }

  [[nodiscard]] double number(const Subject& what, const toml::node& node,
                              std::string_view expected) const {
    const std::optional<double> value = node.value<double>();
    if (!node.is_number() || !value) mismatch(what, node, expected);
    if (std::isnan(*value)) {
      throw InvalidArgument(what.with(" = ", "nan is not a number"),
                            fmt::format("Give {}", expected), at(node.source()));
    }
    return *value;
  }

  [[nodiscard]] double finite(const Subject& what, const toml::node& node) const {
    constexpr std::string_view kExpected = "a finite number";
    const double value = number(what, node, kExpected);
    if (std::isfinite(value)) return value;
    throw InvalidArgument(what.with(" ", "is infinite"), "Give a finite number", at(node.source()));
  }

  [[nodiscard]] const toml::array& list(const Subject& what, const toml::node& node,
                                        std::string_view expected) const {
    const toml::array* found = node.as_array();
    if (found == nullptr) mismatch(what, node, expected);
    if (found->empty()) {
      throw InvalidArgument(what.with(" ", "is an empty list"), fmt::format("Give {}", expected),
                            at(node.source()));
    }
    return *found;
  }

  [[nodiscard]] Eigen::MatrixXd vector(const Subject& what, const toml::array& entries) const {
    Eigen::MatrixXd values(static_cast<Eigen::Index>(entries.size()), 1);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      values(static_cast<Eigen::Index>(i), 0) = finite(what.entry("entry", i), entries[i]);
    }
    return values;
  }

  [[nodiscard]] Eigen::MatrixXd matrix(const Subject& what, const toml::array& rows) const {
    Eigen::MatrixXd values;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Subject row_name = what.entry("row", i);
      const toml::array& row = list(row_name, rows[i], "a list of numbers");
      const auto width = static_cast<Eigen::Index>(row.size());
      if (i == 0) values.resize(static_cast<Eigen::Index>(rows.size()), width);
      if (width != values.cols()) {
        throw InvalidArgument(
            row_name.with(
                " ", fmt::format("has {} entries, but the first row has {}", width, values.cols())),
            "Give rows of equal length", at(row.source()));
      }
      values.row(static_cast<Eigen::Index>(i)) = vector(row_name, row).transpose();
    }
    return values;
  }
};

TomlTable TomlTable::read(const std::string& path, const std::vector<TomlOverride>& overrides) {
  constexpr std::uint64_t kLargestToml = std::uint64_t{64} << 20;  // large matrices have own files
  return parse(read_file(path, kLargestToml), path, overrides);
}

namespace {

/// toml++ recurses once per part of a dotted key; tens of thousands of parts overflow the stack.
void refuse_deep_keys(std::string_view text, const std::string& source) {
  constexpr int deepest = 100;
  int dots = 0;
  std::size_t line = 1;
  char quote = 0;  // what a string or a comment ends with, at the latest with the line
  for (const char c : text) {
    if (c == '\n' || c == quote) {
      quote = 0;
    } else if (quote != 0) {
      continue;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      quote = '\n';
    } else if (c == '.') {
      if (++dots <= deepest) continue;
      throw InvalidArgument(fmt::format("a key has more than {} parts", deepest),
                            "Problem files are not nested that deep", Where::at(source, line));
    }
    // Anything that separates values or ends a key starts the count anew; numbers have one dot each.
    if (c == ',' || c == '=' || c == '[' || c == ']' || c == '\n') dots = 0;
    if (c == '\n') ++line;
  }
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::string_view("_-+./~").find(c) != std::string_view::npos || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

/// A document whose only key, `value`, is what the override gives.
toml::table value_of(const TomlOverride& override) {
  const std::string source = lifted(override.source, override.source);
  try {
    refuse_deep_keys(override.value, override.source);
    toml::table parsed = toml::parse("value = " + lifted(override.value, override.source), source);
    if (parsed.size() == 1) return parsed;
  } catch (const toml::parse_error&) {
    if (is_word(override.value)) return toml::parse("value = '" + override.value + "'", source);
  }
  throw InvalidArgument(fmt::format("{} is not a value", shown(override.value)),
                        "Write it as in the file: a number, true, \"text\" or [1, 2]",
                        place_of(override));
}

[[noreturn]] void no_such_entry(const TomlOverride& override, const std::string& list,
                                const std::string& entry, const std::vector<std::string>& names) {
  throw InvalidArgument(fmt::format("`{}` has no entry {}", list, shown(entry)),
                        suggestion(entry, names, "entries"), place_of(override));
}

/// The entry of a list of tables that a part of a path means.
toml::table& entry_of(toml::array& list, const std::string& name, const std::string& part,
                      const TomlOverride& override) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    toml::table* entry = list[i].as_table();
    if (entry == nullptr) continue;
    for (const std::string& key : override.names) {
      const auto* value = entry->get_as<std::string>(key);
      if (value == nullptr) continue;
      if (lowered(value->get()) == part) return *entry;
      names.push_back(lowered(value->get()));
      break;
    }
    if (std::to_string(i) == part) return *entry;
  }
  for (std::size_t i = 0; i < list.size(); ++i) names.push_back(std::to_string(i));
  no_such_entry(override, name, part, names);
}

void apply(const TomlOverride& override, toml::table& root) {
  constexpr std::size_t kDeepest = 16;  // tables in tables are freed recursively
  if (override.path.empty() || override.path.size() > kDeepest) {
    throw InvalidArgument(fmt::format("a key of {} parts", override.path.size()),
                          "Give the tables and the key that lead to the value", place_of(override));
  }
  toml::table value = value_of(override);
  const toml::source_region region = value.get("value")->source();
  toml::table* table = &root;
  std::string so_far;
  for (std::size_t i = 0; i + 1 < override.path.size(); ++i) {
    const std::string part = lifted(override.path[i], override.source);
    so_far += (i == 0 ? "" : ".") + override.path[i];
    toml::node* next = table->get(part);
    if (next == nullptr) {
      next = &table->insert_or_assign(toml::key(part, region), toml::table{}).first->second;
    }
    if (toml::array* list = next->as_array(); list != nullptr && i + 2 < override.path.size()) {
      table = &entry_of(*list, so_far, override.path[++i], override);
      so_far += "." + override.path[i];
    } else if (next->is_table()) {
      table = next->as_table();
    } else {
      throw InvalidArgument(
          fmt::format("`{}` is {}", escaped(so_far), type_name(*next)),
          next->is_array() ? "Name an entry, by number from 0 or by name" : "Only tables have keys",
          place_of(override));
    }
  }
  for (const std::string& key : override.replaces) table->erase(key);
  const std::string last = lifted(override.path.back(), override.source);
  table->erase(last);  // the old key would keep its place in messages
  // Moved, not copied: only so a node keeps where it came from.
  value.get("value")->visit(
      [&](auto& node) { table->insert_or_assign(toml::key(last, region), std::move(node)); });
}

}  // namespace

TomlTable TomlTable::parse(std::string_view text, const std::string& source,
                           const std::vector<TomlOverride>& overrides) {
  refuse_deep_keys(text, source);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark
  const std::string safe_text = lifted(text, source);
  try {
    auto root = std::make_shared<toml::table>(toml::parse(safe_text));
    for (const TomlOverride& override : overrides) apply(override, *root);
    const toml::table* table = root.get();
    auto options = std::make_shared<std::vector<std::string>>();
    for (const TomlOverride& override : overrides) {
      if (override.is_option) options->push_back(override.source);
    }
    return TomlTable(std::make_shared<const Content>(
        Content{std::move(root), table, source, "", std::move(options), !text.empty()}));
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(
        fmt::format("this is not TOML: {}", escaped(lowered(error.description()))),
        "Correct the syntax",
        Where::at(source, error.source().begin.line, error.source().begin.column));
  }
}

bool TomlTable::has(std::string_view key) const { return content_->find(key) != nullptr; }

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : *content_->table) keys.push_back(lowered(key.str()));
  return keys;
}

TomlTable TomlTable::Content::inner(const toml::table* found, const std::string& of) const {
  Content content = *this;
  content.table = found;
  content.prefix = of;
  return TomlTable(std::make_shared<const Content>(std::move(content)));
}

std::string TomlTable::label(std::string_view key) const { return content_->label(key); }

Error::Problem TomlTable::problem(std::string_view key, std::string joint, std::string text) const {
  return {content_->subject(key).key, std::move(joint), std::move(text)};
}

Where TomlTable::where(std::string_view key) const {
  const toml::node* found = content_->find(key);
  return content_->at((found != nullptr ? *found : *content_->table).source());
}

bool TomlTable::is_string(std::string_view key) const { return content_->node(key).is_string(); }

double TomlTable::number(std::string_view key) const {
  return content_->number(content_->subject(key), content_->node(key), "a number");
}

std::int64_t TomlTable::integer(std::string_view key) const {
  const toml::node& node = content_->node(key);
  if (const auto* integer = node.as_integer()) return integer->get();
  const double value = content_->number(content_->subject(key), node, "an integer");
  // Up to 2^53 every integer is a double, so nothing was rounded on the way.
  if (value == std::floor(value) && std::abs(value) <= 0x1p53) {
    return static_cast<std::int64_t>(value);
  }
  throw InvalidArgument(problem(key, " = ", fmt::format("{} is not an integer", value)),
                        "Give a whole number", where(key));
}

std::string TomlTable::string(std::string_view key) const {
  const toml::node& node = content_->node(key);
  if (const auto* string = node.as_string()) return lowered(string->get());
  content_->mismatch(content_->subject(key), node, "a string in quotes");
}

std::string TomlTable::path(std::string_view key) const {
  const std::string text = string(key);  // checks the type
  if (text.find('\0') != std::string::npos) {
    throw InvalidArgument(problem(key, " ", "has a byte 0 in it"), "Give the path of a file",
                          where(key));
  }
  return content_->path_of(*content_->node(key).as_string());
}

std::vector<std::string> TomlTable::paths(std::string_view key) const {
  constexpr std::string_view kExpected = "a path, or a list of paths";
  const toml::node& node = content_->node(key);
  if (node.is_string()) return {path(key)};
  std::vector<std::string> paths;
  for (const toml::node& entry : content_->list(content_->subject(key), node, kExpected)) {
    const auto* string = entry.as_string();
    if (string == nullptr) content_->mismatch(content_->subject(key), entry, kExpected);
    paths.push_back(content_->path_of(*string));
    if (paths.back().find('\0') != std::string::npos) {
      throw InvalidArgument(problem(key, " ", "has a byte 0 in it"), "Give the paths of files",
                            where(key));
    }
  }
  return paths;
}

bool TomlTable::boolean(std::string_view key) const {
  const toml::node& node = content_->node(key);
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  content_->mismatch(content_->subject(key), node, "true or false");
}

std::vector<double> TomlTable::numbers(std::string_view key) const {
  constexpr std::string_view kExpected = "a list of numbers";
  const toml::node& node = content_->node(key);
  const Subject subject = content_->subject(key);
  if (node.is_number()) return {content_->number(subject, node, kExpected)};
  const toml::array& list = content_->list(subject, node, kExpected);
  std::vector<double> values;
  values.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    values.push_back(content_->number(subject.entry("entry", i), list[i], "a number"));
  }
  return values;
}

StringArray TomlTable::strings(std::string_view key) const {
  constexpr std::string_view kExpected = "a text, a list of texts, or a list of such lists";
  const toml::node& node = content_->node(key);
  const Subject subject = content_->subject(key);
  const auto text = [&](const toml::node& entry) -> std::string {
    if (const auto* string = entry.as_string()) return lowered(string->get());
    content_->mismatch(subject, entry, kExpected);
  };
  if (node.is_string()) return {{{text(node)}}, 0};
  const toml::array& list = content_->list(subject, node, kExpected);
  StringArray result;
  result.rank = list[0].is_array() ? 2 : 1;
  for (const toml::node& entry : list) {
    std::vector<std::string> row;
    if (result.rank == 1) {
      row.push_back(text(entry));
    } else {
      for (const toml::node& inner : content_->list(subject, entry, kExpected)) {
        row.push_back(text(inner));
      }
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

TomlTable TomlTable::table(std::string_view key) const {
  const toml::node& node = content_->node(key);
  const toml::table* found = node.as_table();
  if (found == nullptr) content_->mismatch(content_->subject(key), node, "a table");
  return content_->inner(found, fmt::format("{}{}.", content_->prefix, key));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  constexpr std::string_view kExpected = "a list of tables, [[...]]";
  const toml::node& node = content_->node(key);
  const toml::array* list = node.as_array();
  if (list == nullptr) content_->mismatch(content_->subject(key), node, kExpected);
  std::vector<TomlTable> tables;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const toml::table* table = (*list)[i].as_table();
    const std::string prefix = fmt::format("{}{}.{}.", content_->prefix, key, i);
    if (table == nullptr) content_->mismatch(content_->subject(key), (*list)[i], kExpected);
    tables.push_back(content_->inner(table, prefix));
  }
  return tables;
}

ArrayValue TomlTable::array(std::string_view key) const {
  const toml::node& node = content_->node(key);
  const Subject subject = content_->subject(key);
  if (const auto* file = node.as_string()) {
    const std::string path = content_->path_of(*file);
    Array array = located(where(key), [&] { return read_array(path); });
    return {std::move(array.values), array.rank,
            Where::in(fmt::format("{} ({})", where(key).text(), path))};
  }
  if (node.is_number()) {
    return {Eigen::MatrixXd::Constant(1, 1, content_->finite(subject, node)), 0, where(key)};
  }
  const toml::array& list = content_->list(
      subject, node, "a number, a list, a list of lists, or the path of a CSV or NPY file");
  if (list[0].is_array()) return {content_->matrix(subject, list), 2, where(key)};
  return {content_->vector(subject, list), 1, where(key)};
}

Covariance TomlTable::covariance(std::string_view key, Eigen::Index dimension) const {
  // An option says itself what it stands for.
  const std::string label = where(key).is_option() ? "the covariance" : content_->label(key);
  if (const auto* file = content_->node(key).as_string()) {
    return located(where(key),
                   [&] { return read_covariance(content_->path_of(*file), dimension).covariance; });
  }
  const ArrayValue value = array(key);
  if (value.rank == 0) {
    return require_covariance(label, Isotropic{value.values(0, 0), dimension}, value.where);
  }
  if (value.values.rows() != dimension || (value.rank == 2 && value.values.cols() != dimension)) {
    throw InvalidArgument(
        problem(key, " ",
                value.rank == 2 ? fmt::format("is {} x {}, but the problem has {} parameters",
                                              value.values.rows(), value.values.cols(), dimension)
                                : fmt::format("has {} entries, but the problem has {} parameters",
                                              value.values.rows(), dimension)),
        "Give a number, one variance per parameter, or a square matrix", value.where);
  }
  return require_covariance(
      label,
      value.rank == 2 ? Covariance(Dense{value.values}) : Covariance(Diagonal{value.values.col(0)}),
      value.where);
}

void TomlTable::reject_unknown(const std::vector<std::string>& known) const {
  const toml::key* first = nullptr;  // in the order of the file: the table sorts by name
  for (const auto& [key, value] : *content_->table) {
    const bool is_known = std::find(known.begin(), known.end(), lowered(key.str())) != known.end();
    if (!is_known && (first == nullptr || key.source().begin < first->source().begin)) {
      first = &key;
    }
  }
  if (first == nullptr) return;
  const std::string key = lowered(first->str());
  throw InvalidArgument(fmt::format("the key {} is unknown", shown(content_->prefix + key)),
                        suggestion(key, known), content_->at(first->source()));
}

}  // namespace sfumato
