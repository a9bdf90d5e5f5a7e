#include "sfumato/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/data/csv_records.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

/// Longer texts are no names: a file without line ends, say.
constexpr std::size_t kLongestName = 10'000;

enum class Header { required, detected };

/// A first column without a name, as pandas writes the index of a table.
enum class Index {
  none,
  beside_names,    ///< the other columns have names
  beside_numbers,  ///< the other columns are called 0, 1, ..., as those without names are
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// No number for us, but no name either.
bool is_infinity(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.size() > 8) return false;
  const std::string lower = in_lower_case(text);
  return lower == "inf" || lower == "infinity";
}

void check_format(const NumberFormat& format) {
  if (format.decimal != '.' && format.decimal != ',') {
    throw InvalidArgument(fmt::format("the decimal mark {} is neither `.` nor `,`",
                                      shown(std::string_view(&format.decimal, 1))),
                          "Choose one of the two", Where::here("number format"));
  }
  const char c = format.separator;
  const bool in_numbers = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == format.decimal;
  const auto byte = static_cast<unsigned char>(c);
  if (in_numbers || c == '"' || (byte < 0x20 && c != '\t') || byte >= 0x7F) {
    throw InvalidArgument(fmt::format("{} cannot separate numbers whose decimal mark is `{}`",
                                      shown(std::string_view(&c, 1)), format.decimal),
                          "Use a comma, a semicolon or a tab", Where::here("number format"));
  }
}

/// Gives the different texts of one column their numbers.
class LevelNumbers {
 public:
  std::uint32_t operator()(std::string_view text, std::vector<std::string>& levels) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(levels.size());
    levels.emplace_back(text);
    numbers_.emplace(text, number);
    return number;
  }

 private:
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

/// The text without its byte-order mark, or an error if it is no text.
std::string_view text_part(std::string_view text, const std::string& source) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw InvalidArgument("is encoded in UTF-16", "Save it as UTF-8", Where::in(source));
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    throw InvalidArgument("holds a NUL byte, so it is not a text file",
                          "Give a CSV file, or use the suffix .npy or .npz for arrays",
                          Where::at(source, static_cast<std::size_t>(lines) + 1));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& source, const CsvOptions& options)
      : text_(text_part(text, source)),
        options_(options),
        records_(text_, source, options.format.separator) {
    check_format(options.format);
    table_.source = source;
  }

  TableReader(const MemoryTable& table, const std::string& source, const CsvOptions& options)
      : options_(options), records_(table, source), rows_(table.columns.front().size()) {
    table_.source = source;
    table_.in_memory = true;
  }

  DataTable read(Header header) {
    take_all(header);
    return finish();
  }

  CsvRows read_rows(Header header) {
    take_all(header);
    const auto rows = static_cast<Eigen::Index>(require_rows());
    return {std::move(values_), rows, static_cast<Eigen::Index>(chosen_.size())};
  }

 private:
  void take_all(Header header) {
    if (!next_unless_blank()) {
      throw InvalidArgument("is empty", "Give a file with a header row and rows of numbers",
                            Where::in(table_.source));
    }
    width_ = records_.fields().size();
    header_ = header;
    index_ = header == Header::detected ? index_in_first_row() : Index::none;
    const bool numbers_first = header == Header::required ? first_row_is_all_numbers()
                               : index_ == Index::none    ? first_row_has_a_value()
                                                          : false;
    if (header == Header::required && numbers_first) {
      throw InvalidArgument("the first row holds numbers, not column names",
                            "Add a header row (a name that is a number goes in quotes)",
                            records_.place());
    }
    if (!numbers_first) {
      take_names();
    } else if (options_.number_columns) {
      for (std::size_t i = 1; i <= width_; ++i) table_.columns.push_back(fmt::format("{}", i));
    }
    choose_columns();
    prepare_texts();
    reserve();
    if (numbers_first) take_row();
    take_rows();
  }

  [[nodiscard]] ParsedNumber number(const CsvField& field) const {
    return number_of(field, options_.format.decimal);
  }

  bool next_unless_blank() {
    while (records_.next()) {
      if (!records_.blank()) return true;
    }
    return false;
  }

  [[nodiscard]] bool first_row_is_all_numbers() const {
    return std::all_of(records_.fields().begin(), records_.fields().end(), [&](const CsvField& f) {
      return !f.quoted && number(f).status == NumberStatus::ok;
    });
  }

  /// One number in the first row is enough: were the row taken for names because of another, broken
  /// field, a record would vanish without a word.
  [[nodiscard]] bool first_row_has_a_value() const {
    return std::any_of(records_.fields().begin(), records_.fields().end(), [&](const CsvField& f) {
      return !f.quoted && (is_missing(f.text) || is_infinity(f.text) ||
                           number(f).status != NumberStatus::not_a_number);
    });
  }

  [[nodiscard]] Index index_in_first_row() const {
    const std::vector<CsvField>& fields = records_.fields();
    if (width_ < 2 || fields.front().quoted || !trimmed(fields.front().text).empty()) {
      return Index::none;
    }
    bool names = true, numbers = true;
    for (std::size_t i = 1; i < width_; ++i) {
      const CsvField& f = fields[i];
      names = names && (f.quoted || (!is_missing(f.text) && !is_infinity(f.text) &&
                                     number(f).status == NumberStatus::not_a_number));
      numbers = numbers && f.text == fmt::format("{}", i - 1);
    }
    return names ? Index::beside_names : numbers ? Index::beside_numbers : Index::none;
  }

  /// One column whose name holds another mark: a file that is separated by it.
  void require_separator() const {
    const CsvField& first = records_.fields().front();
    if (width_ != 1 || first.quoted) return;
    const std::size_t at = first.text.find_first_of(";\t|");
    if (at == std::string_view::npos) return;
    const std::string mark = first.text[at] == '\t' ? "tab" : std::string(1, first.text[at]);
    throw InvalidArgument(
        fmt::format("there is one column, {}", shown(first.text)),
        options_.adjustable
            ? fmt::format("Its fields seem to be separated by \"{}\": set `separator` to \"{}\", "
                          "or save it "
                          "with commas",
                          mark, mark)
            : fmt::format("Its fields seem to be separated by \"{}\": save it with commas", mark),
        records_.place());
  }

  void take_names() {
    require_separator();
    std::unordered_set<std::string_view> seen;
    table_.columns.reserve(width_);
    for (const CsvField& field : records_.fields()) {
      const std::size_t index = table_.columns.size() + 1;
      const Where where = records_.place(index);
      const bool is_index = index == 1 && index_ != Index::none;
      if (trimmed(field.text).empty() && !is_index) {
        throw InvalidArgument(fmt::format("column {} has no name", index), "Name every column",
                              where);
      }
      if (field.text.size() > kLongestName) {
        throw InvalidArgument(fmt::format("the name of column {} has {} bytes, the limit is {}",
                                          index, field.text.size(), kLongestName),
                              "Check that this is a CSV file with short column names", where);
      }
      if (!is_utf8(field.text)) {
        throw InvalidArgument(
            fmt::format("the name {} of column {} is not UTF-8", shown(field.text), index),
            "Save the file as UTF-8", where);
      }
      if (!seen.insert(field.text).second) {
        throw InvalidArgument(
            fmt::format("the name {} of column {} is used twice", shown(field.text), index),
            "Give every column its own name", where);
      }
      table_.columns.emplace_back(field.text);
    }
  }

  void choose_columns() {
    (void)columns_of(table_, options_.needed);
    std::vector<bool> wanted(width_, options_.only.empty());
    for (const Eigen::Index i : columns_of(table_, options_.exclude)) {
      wanted[static_cast<std::size_t>(i)] = false;
    }
    if (index_ != Index::none) wanted[0] = false;
    for (const Eigen::Index i : columns_of(table_, options_.only)) {
      wanted[static_cast<std::size_t>(i)] = true;
    }
    if (!options_.id.empty()) {
      id_ = static_cast<std::size_t>(column_of(table_, options_.id));
      wanted[*id_] = false;
    }
    for (std::size_t i = 0; i < width_; ++i) {
      if (wanted[i]) chosen_.push_back(i);
    }
  }

  void prepare_texts() {
    if (!options_.keep_text) return;
    table_.texts.resize(chosen_.size());
    numbers_.resize(chosen_.size());
    as_text_.assign(chosen_.size(), false);
    std::vector<bool> wanted(width_, false);
    for (const Eigen::Index i : columns_of(table_, options_.as_text)) {
      wanted[static_cast<std::size_t>(i)] = true;
    }
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      table_.texts[k].field = chosen_[k] + 1;
      as_text_[k] = wanted[chosen_[k]];
    }
  }

  /// An accepted field takes two bytes or more, so this never reserves more than the text deserves.
  void reserve() {
    if (rows_ > 0) {
      values_.reserve(rows_ * chosen_.size());
      table_.lines.reserve(rows_);
      return;
    }
    const auto lines = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) + 1;
    const std::size_t by_size = text_.size() / (2 * width_) + 1;
    values_.reserve(std::min(lines, by_size) * width_);
    table_.lines.reserve(std::min(lines, by_size));
  }

  void take_rows() {
    std::size_t blanks = 0, first_blank = 0;
    while (records_.next()) {
      if (records_.blank()) {
        if (blanks++ == 0) first_blank = records_.line();
        continue;
      }
      // Only now is it known that the blank lines were not those that end a file.
      if (blanks > 0 && width_ == 1) {
        if (options_.missing == MissingPolicy::reject) refuse_missing(1, first_blank);
        table_.dropped += blanks;
      }
      blanks = 0;
      take_row();
    }
  }

  void take_row() {
    const std::vector<CsvField>& fields = records_.fields();
    if (fields.size() != width_) refuse_ragged();
    // Were it no index, a row of numbers would have vanished as names.
    if (index_ == Index::beside_numbers &&
        fields[0].text != fmt::format("{}", table_.lines.size())) {
      refuse_missing(1, 1);
    }
    bool complete = true;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::size_t i = chosen_[k];
      const bool as_text = options_.keep_text && as_text_[k];
      const ParsedNumber parsed = as_text ? ParsedNumber{} : number(fields[i]);
      if (parsed.status == NumberStatus::ok) {
        values_.push_back(parsed.value);
      } else if (parsed.status == NumberStatus::not_a_number && !fields[i].is_number &&
                 is_missing(fields[i].text)) {
        if (options_.missing == MissingPolicy::reject) refuse_missing(i + 1, records_.line());
        if (options_.missing == MissingPolicy::keep) {
          keep(k, TextCells::kMissing);
        } else {
          complete = false;
        }
        values_.push_back(0.0);
      } else if (options_.keep_text && may_be_text(fields[i].text, parsed.status, as_text)) {
        take_text(k, records_.text(i));
        values_.push_back(0.0);
      } else {
        refuse_field(i, parsed.status);
      }
    }
    if (complete) {
      table_.lines.push_back(records_.line());
      if (id_) take_id(records_.text(*id_));
    } else {
      values_.resize(values_.size() - chosen_.size());
      for (TextCells& text : table_.texts) {
        if (!text.cells.empty() && text.cells.back().row == table_.lines.size()) {
          text.cells.pop_back();
        }
      }
      ++table_.dropped;
    }
  }

  /// A number that cannot be held, infinity and a decimal comma are mistakes, not texts.
  [[nodiscard]] bool may_be_text(std::string_view text, NumberStatus status, bool asked) const {
    if (asked) return true;
    return status == NumberStatus::not_a_number && !is_infinity(text) && !has_comma(text);
  }

  void take_text(std::size_t k, std::string_view text) {
    if (!is_utf8(text)) {
      throw InvalidArgument(fmt::format("{} is not UTF-8", field_name(chosen_[k] + 1)),
                            "Save the file as UTF-8", records_.place(chosen_[k] + 1));
    }
    keep(k, numbers_[k](text, table_.texts[k].levels));
  }

  void keep(std::size_t k, std::uint32_t level) {
    table_.texts[k].cells.push_back({table_.lines.size(), level});
  }

  [[nodiscard]] bool has_comma(std::string_view text) const {
    return options_.format.decimal == '.' && parse_number(text, ',').status == NumberStatus::ok;
  }

  void take_id(std::string_view id) {
    if (!is_utf8(id)) {
      throw InvalidArgument(fmt::format("{} is not UTF-8", field_name(*id_ + 1)),
                            "Save the file as UTF-8", records_.place(*id_ + 1));
    }
    table_.ids.emplace_back(id);
  }

  [[nodiscard]] std::string field_name(std::size_t field) const {
    if (table_.columns.empty() || table_.columns[field - 1].empty()) {
      return fmt::format("field {}", field);
    }
    return fmt::format("field {} ({})", field, shown(table_.columns[field - 1]));
  }

  [[noreturn]] void refuse_missing(std::size_t field, std::size_t line) const {
    throw InvalidArgument(fmt::format("{} is missing", field_name(field)),
                          options_.adjustable
                              ? "Fill it in, or set `impute` to drop, median or mode"
                              : "Fill it in, or remove the row",
                          records_.place(line, field));
  }

  /// The content of the field is not said: it is private, and file, line and column lead to it.
  [[noreturn]] void refuse_field(std::size_t index, NumberStatus status) const {
    const CsvField& field = records_.fields()[index];
    const bool comma = has_comma(field.text);
    throw InvalidArgument(
        fmt::format("{} is {}", field_name(index + 1),
                    status == NumberStatus::out_of_range ? "a number beyond the range of a double"
                    : is_infinity(field.text)            ? "infinite, not a finite number"
                    : comma                              ? "a number with a decimal comma"
                                                         : "text, not a finite number"),
        comma && options_.adjustable ? "If the comma is the decimal mark, set `decimal` to \",\""
        : comma                      ? "Write numbers with a decimal point"
                                     : "Correct it or remove the row",
        records_.place(index + 1));
  }

  [[noreturn]] void refuse_ragged() const {
    const std::size_t got = records_.fields().size();
    throw InvalidArgument(
        fmt::format("expected {} field{}, got {}", width_, width_ == 1 ? "" : "s", got),
        "Give every row as many fields as the first", records_.place());
  }

  [[nodiscard]] std::size_t require_rows() const {
    if (!table_.lines.empty()) return table_.lines.size();
    throw InvalidArgument(
        table_.dropped == 0 ? "has a header but no rows" : "has no row without a missing value",
        "Give at least one row of numbers", Where::in(table_.source));
  }

  DataTable finish() {
    const std::size_t rows = require_rows();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    table_.values = Eigen::Map<const RowMajor>(values_.data(), static_cast<Eigen::Index>(rows),
                                               static_cast<Eigen::Index>(chosen_.size()));
    if (chosen_.size() < table_.columns.size()) {
      std::vector<std::string> names;
      for (const std::size_t i : chosen_) names.push_back(std::move(table_.columns[i]));
      table_.columns = std::move(names);
    }
    return std::move(table_);
  }

  std::string_view text_;
  CsvOptions options_;
  CsvRecords records_;
  DataTable table_;
  Header header_ = Header::required;
  Index index_ = Index::none;
  std::size_t width_ = 0;
  std::size_t rows_ = 0;               ///< of a table in memory
  std::vector<std::size_t> chosen_;    ///< the fields that are read
  std::optional<std::size_t> id_;      ///< the field that names the row
  std::vector<double> values_;         ///< row by row
  std::vector<LevelNumbers> numbers_;  ///< of the texts, for each of chosen_
  std::vector<bool> as_text_;          ///< whether numbers are texts, for each of chosen_
};

}  // namespace

bool is_missing(std::string_view text) {
  if (text.empty() || text == "?") return true;
  if (text.size() > 4) return false;
  const std::string lower = in_lower_case(text);
  return lower == "na" || lower == "n/a" || lower == "nan" || lower == "null";
}

DataTable parse_csv(std::string_view text, const std::string& source, const CsvOptions& options) {
  return TableReader(text, source, options).read(Header::required);
}

DataTable read_memory(const MemoryTable& table, const std::string& source,
                      const CsvOptions& options) {
  return TableReader(table, source, options).read(Header::required);
}

DataTable parse_csv_matrix(std::string_view text, const std::string& source,
                           const CsvOptions& options) {
  return TableReader(text, source, options).read(Header::detected);
}

CsvRows parse_csv_rows(std::string_view text, const std::string& source,
                       const CsvOptions& options) {
  return TableReader(text, source, options).read_rows(Header::detected);
}

DataTable read_csv(const std::string& path, const CsvOptions& options) {
  return parse_csv(read_file(path), path, options);
}

DataTable read_csv_matrix(const std::string& path, const CsvOptions& options) {
  return parse_csv_matrix(read_file(path), path, options);
}

}  // namespace sfumato
