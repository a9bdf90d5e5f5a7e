#include "sfumato/data/memory_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <regex>

#include "sfumato/core/error.hpp"
#include "sfumato/data/csv.hpp"
#include "sfumato/data/csv_writer.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

constexpr std::uint64_t kSeed = 20261117;

/// A table of all that columns may hold, its numbers every other one of a larger array.
struct RandomTable {
  std::vector<std::vector<double>> numbers;
  MemoryTable table;
};

RandomTable random_table(std::mt19937_64& rng) {
  static const char* kTexts[] = {"a",    "B, \"b\"", "1.5",   "007",  "",   "NA",
                                 "true", " c ",      "1e400", "x\ny", "1,5"};
  RandomTable made;
  const std::size_t columns = 1 + rng() % 5, rows = rng() % 7;
  made.numbers.resize(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    MemoryColumn column{rng() % 8 == 0 ? std::to_string(c) : "c" + std::to_string(c), {}};
    if (rng() % 3 != 0) {
      for (std::size_t i = 0; i < 2 * rows; ++i) {
        const double value = std::normal_distribution<>(0.0, std::pow(10.0, rng() % 9))(rng);
        made.numbers[c].push_back(rng() % 15 == 0   ? std::nan("")
                                  : rng() % 99 == 0 ? std::numeric_limits<double>::infinity()
                                  : rng() % 3 == 0  ? std::round(value)
                                                    : value);
      }
      column.values = MemoryNumbers{made.numbers[c].data(), rows, 2};
    } else {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < rows; ++i)
        texts.emplace_back(kTexts[rng() % (rng() % 9 == 0 ? 11 : 8)]);
      column.values = texts;
    }
    made.table.columns.push_back(std::move(column));
  }
  return made;
}

void write(const std::string& path, const MemoryTable& table) {
  std::vector<std::string> names;
  for (const MemoryColumn& column : table.columns) names.push_back(column.name);
  CsvWriter out(path, names);
  for (std::size_t row = 0; row < table.columns.front().size(); ++row) {
    for (const MemoryColumn& column : table.columns) {
      if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
        out.text((*texts)[row]);
        continue;
      }
      const auto& numbers = std::get<MemoryNumbers>(column.values);
      const double value = numbers.first[2 * row];
      std::isnan(value) ? out.text("") : out.number(value);
    }
    out.end_row();
  }
  out.commit();
}

/// Lines of texts with line ends are others than in a file.
bool has_line_end(const MemoryTable& table) {
  for (const MemoryColumn& column : table.columns) {
    const auto* texts = std::get_if<std::vector<std::string>>(&column.values);
    if (texts == nullptr) continue;
    for (const std::string& text : *texts) {
      if (text.find('\n') != std::string::npos) return true;
    }
  }
  return false;
}

/// A refusal of a line of the file as one of the row in memory: the header is line 1, rows count from 0.
std::string with_row(const std::string& text, const std::string& path) {
  std::smatch found;
  const std::string rest = text.starts_with(path) ? text.substr(path.size()) : "";
  if (!std::regex_search(rest, found, std::regex("^:([0-9]+):[0-9]+: "))) return text;
  return fmt::format("{}: row {}, from 0: {}", path, std::stoul(found[1]) - 2,
                     found.suffix().str());
}

TEST(MemoryTableProperty, IsReadAsAFileIs) {
  std::mt19937_64 rng(kSeed);
  const TempDir dir;
  int read = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << i);
    const RandomTable made = random_table(rng);
    if (has_line_end(made.table)) continue;
    CsvOptions options;
    options.missing = static_cast<MissingPolicy>(rng() % 3);
    options.keep_text = rng() % 4 != 0 || options.missing == MissingPolicy::keep;
    options.adjustable = rng() % 2 == 0;
    const auto any = [&] { return made.table.columns[rng() % made.table.columns.size()].name; };
    if (rng() % 3 == 0) options.as_text = {any()};
    if (rng() % 4 == 0) options.only = {any()};
    if (rng() % 4 == 0) options.id = any();
    if (rng() % 9 == 0) options.needed = {"missing"};
    const std::string path = dir / "t.csv";
    write(path, made.table);
    DataTable file, memory;
    const std::string of_file =
        message_of<InvalidArgument>([&] { file = read_csv(path, options); });
    const std::string of_memory =
        message_of<InvalidArgument>([&] { memory = read_memory(made.table, path, options); });
    ASSERT_EQ(of_memory, with_row(of_file, path));
    (of_file == "no exception" ? read : refused) += 1;
    EXPECT_EQ(memory.columns, file.columns);
    EXPECT_EQ(memory.values, file.values);
    EXPECT_EQ(memory.lines, file.lines);
    EXPECT_EQ(memory.dropped, file.dropped);
    EXPECT_EQ(memory.ids, file.ids);
    ASSERT_EQ(memory.texts.size(), file.texts.size());
    for (std::size_t k = 0; k < file.texts.size(); ++k) {
      EXPECT_EQ(memory.texts[k].field, file.texts[k].field);
      EXPECT_EQ(memory.texts[k].levels, file.texts[k].levels);
      ASSERT_EQ(memory.texts[k].cells.size(), file.texts[k].cells.size());
      for (std::size_t c = 0; c < file.texts[k].cells.size(); ++c) {
        EXPECT_EQ(memory.texts[k].cells[c].row, file.texts[k].cells[c].row);
        EXPECT_EQ(memory.texts[k].cells[c].level, file.texts[k].cells[c].level);
      }
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 300);
}

TEST(MemoryTableProperty, ColumnsAreEquallyLong) {
  const double numbers[] = {1.0, 2.0};
  const MemoryTable table{{{"a", MemoryNumbers{numbers, 2}}, {"b", std::vector<std::string>{"x"}}}};
  EXPECT_NE(message_of<InvalidArgument>([&] {
              (void)read_memory(table, "t");
            }).find("column \"b\" has 1 entries, the first has 2"),
            std::string::npos);
  EXPECT_THROW((void)read_memory({}, "t"), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
