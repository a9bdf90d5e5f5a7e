#include "sfumato/data/csv.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "sfumato/core/error.hpp"
#include "sfumato/data/csv_writer.hpp"
#include "support/csv_matrix.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

using fixtures::matrix;

std::string refusal(std::string_view text, const CsvOptions& options = {}) {
  return message_of<InvalidArgument>([&] { (void)parse_csv(text, "d.csv", options); });
}

using Names = std::vector<std::string>;
using Lines = std::vector<std::size_t>;
const CsvOptions kDrop{{}, MissingPolicy::drop_row};
const CsvOptions kGerman{{';', ','}};

TEST(Csv, PlainTable) {
  const DataTable table = parse_csv("a,b\n1,2\n-3.5,4e2\n", "d.csv");
  EXPECT_EQ(table.source, "d.csv");
  EXPECT_EQ(table.columns, (Names{"a", "b"}));
  EXPECT_EQ(table.values, matrix({{1, 2}, {-3.5, 400}}));
  EXPECT_EQ(table.lines, (Lines{2, 3}));
  EXPECT_EQ(table.dropped, 0u);
}

TEST(Csv, LineEndsMarksAndBlanks) {
  const Eigen::MatrixXd expected = matrix({{1, 2}, {3, 4}});
  EXPECT_EQ(parse_csv("a,b\r\n1,2\r\n3,4\r\n", "d").values, expected);
  EXPECT_EQ(parse_csv("a,b\r1,2\r3,4", "d").values, expected);
  EXPECT_EQ(parse_csv("a,b\n1,2\n3,4", "d").values, expected);
  EXPECT_EQ(parse_csv("\xEF\xBB\xBF"
                      "a,b\n1,2\n3,4\n\n\n",
                      "d")
                .values,
            expected);
  EXPECT_EQ(parse_csv("\xEF\xBB\xBF"
                      "a,b\n1,2\n3,4\n",
                      "d")
                .columns[0],
            "a");
  EXPECT_EQ(parse_csv(" a ,\tb\n 1 , 2\t\n\n  \n3,4\n", "d").values, expected);
  EXPECT_EQ(parse_csv("a,b\n1,2\n\n3,4\n", "d").lines, (Lines{2, 4}));
}

TEST(Csv, Quotes) {
  const DataTable table =
      parse_csv("\"a \"\"x\"\"\",\"b,\nc\", \"d\" \n\"1\",2, \"3\"\t\n", "d.csv");
  EXPECT_EQ(table.columns, (Names{"a \"x\"", "b,\nc", "d"}));
  EXPECT_EQ(table.values, matrix({{1, 2, 3}}));
  EXPECT_EQ(table.lines, (Lines{3}));  // the header takes two lines
  EXPECT_EQ(parse_csv("\"2020\",\"2021\"\n1,2\n", "d").columns, (Names{"2020", "2021"}));
}

TEST(Csv, NumberFormats) {
  EXPECT_EQ(parse_csv("a;b\n1,5;-2\n", "d", kGerman).values, matrix({{1.5, -2}}));
  EXPECT_EQ(parse_csv("a\tb\n1.5\t-2\n", "d", {{'\t', '.'}}).values, matrix({{1.5, -2}}));
  EXPECT_THROW((void)parse_csv("a\n1\n", "d", {{',', ','}}), InvalidArgument);
  EXPECT_THROW((void)parse_csv("a\n1\n", "d", {{'"', '.'}}), InvalidArgument);
  EXPECT_THROW((void)parse_csv("a\n1\n", "d", {{'5', '.'}}), InvalidArgument);
  EXPECT_THROW((void)parse_csv("a\n1\n", "d", {{'\n', '.'}}), InvalidArgument);
  EXPECT_THROW((void)parse_csv("a\n1\n", "d", {{',', ';'}}), InvalidArgument);
}

TEST(Csv, MissingValues) {
  for (const char* token : {"", "NA", "NaN", "nan", "null", "?", "N/A", "\"\""}) {
    const std::string text = std::string("a,b\n1,2\n3,") + token + "\n5,6\n";
    EXPECT_EQ(refusal(text),
              "d.csv:3:2: field 2 (\"b\") is missing. Fill it in, or remove the row.")
        << token;
    const DataTable table = parse_csv(text, "d.csv", kDrop);
    EXPECT_EQ(table.values, matrix({{1, 2}, {5, 6}})) << token;
    EXPECT_EQ(table.lines, (Lines{2, 4}));
    EXPECT_EQ(table.dropped, 1u);
  }
  EXPECT_EQ(refusal("a,b\n1,\n,2\n", kDrop),
            "d.csv: has no row without a missing value. Give at least one row of numbers.");
  // A dropped row is still checked.
  EXPECT_NE(refusal("a,b\n,x\n1,2\n", kDrop).find("d.csv:2:2"), std::string::npos);
}

TEST(Csv, BlankLinesOfOneColumnAreMissing) {
  EXPECT_EQ(refusal("a\n1\n\n2\n"),
            "d.csv:3:1: field 1 (\"a\") is missing. Fill it in, or remove the row.");
  CsvOptions options;
  options.adjustable = true;
  EXPECT_EQ(refusal("a\n1\n\n2\n", options),
            "d.csv:3:1: field 1 (\"a\") is missing. Fill it in, or set `impute` to drop, median or "
            "mode.");
  const DataTable table = parse_csv("a\n1\n\n\n2\n\n\n", "d.csv", kDrop);
  EXPECT_EQ(table.values, matrix({{1}, {2}}));
  EXPECT_EQ(table.dropped, 2u);
}

TEST(Csv, RefusesNonNumbersWithTheirPlace) {
  EXPECT_EQ(refusal("a,b\n1,2\n3,x\ty\n"),
            "d.csv:3:2: field 2 (\"b\") is text, not a finite number. Correct it or remove "
            "the row.");
  EXPECT_NE(refusal("a\ninf\n").find("not a finite number"), std::string::npos);
  EXPECT_NE(refusal("a\n1e999\n").find("beyond the range of a double"), std::string::npos);
  EXPECT_NE(refusal("a;b\n1,5;2\n", {{';', '.'}}).find("decimal comma"), std::string::npos);
}

TEST(Csv, RefusesRaggedRows) {
  EXPECT_EQ(refusal("a,b\n1,2\n1,2,3\n"),
            "d.csv:3: expected 2 fields, got 3. Give every row as many fields as the first.");
  EXPECT_NE(refusal("a,b\n1\n").find("d.csv:2: expected 2 fields, got 1"), std::string::npos);
}

TEST(Csv, NamesTheSeparatorThatAFileSeemsToHave) {
  EXPECT_EQ(
      refusal("a;b\n1,5;2\n"),
      "d.csv:1: there is one column, \"a;b\". Its fields seem to be separated by \";\": save it "
      "with commas.");
  // Who can say what the separator is, is told how.
  CsvOptions options;
  options.adjustable = true;
  EXPECT_EQ(refusal("a;b\n1,5;2\n", options),
            "d.csv:1: there is one column, \"a;b\". Its fields seem to be separated by \";\": set "
            "`separator` to \";\", or save it with commas.");
  EXPECT_NE(refusal("a\tb\n1\t2\n", options).find("`separator` to \"tab\""), std::string::npos);
  EXPECT_NE(refusal("a|b\n1|2\n", options).find("`separator` to \"|\""), std::string::npos);
  EXPECT_EQ(parse_csv("\"a;b\"\n1\n", "d.csv").columns[0], "a;b");  // quotes: it is meant
}

TEST(Csv, ManyColumnsTakeTimeInProportion) {
  // Comparing each of these names with each other took 25 s.
  constexpr int kColumns = 100'000;
  std::string header, row;
  CsvOptions options;
  for (int i = 0; i < kColumns; ++i) {
    options.only.push_back("column_" + std::to_string(i));
    header += (i == 0 ? "" : ",") + options.only.back();
    row += i == 0 ? "1" : ",1";
  }
  const auto start = std::chrono::steady_clock::now();
  const DataTable table = parse_csv(header + "\n" + row + "\n", "d.csv", options);
  EXPECT_EQ(columns_of(table, options.only).back(), kColumns - 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_NE(message_of<InvalidArgument>([&] {
              (void)columns_of(table, {"column_1", "x"});
            }).find("there is no column \"x\""),
            std::string::npos);
}

TEST(Csv, LongTextsAreNeitherNamesNorNumbers) {
  EXPECT_EQ(
      refusal(std::string(10'001, 'a') + "\n1\n"),
      "d.csv:1:1: the name of column 1 has 10001 bytes, the limit is 10000. Check that this is "
      "a CSV file with short column names.");
  EXPECT_NE(refusal("a\n" + std::string(10'001, '1') + "\n").find("not a finite number"),
            std::string::npos);
}

TEST(Csv, RefusesBadHeaders) {
  EXPECT_EQ(refusal("a,b,a\n1,2,3\n"),
            "d.csv:1:3: the name \"a\" of column 3 is used twice. Give every column its own name.");
  EXPECT_NE(refusal("a,,c\n1,2,3\n").find("d.csv:1:2: column 2 has no name"), std::string::npos);
  EXPECT_NE(refusal("a,\" \",c\n1,2,3\n").find("d.csv:1:2"), std::string::npos);
  EXPECT_NE(refusal("caf\xE9\n1\n").find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal("1,2\n3,4\n").find("the first row holds numbers"), std::string::npos);
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_NE(refusal("").find("d.csv: is empty"), std::string::npos);
  EXPECT_NE(refusal("\n\r\n \n").find("d.csv: is empty"), std::string::npos);
  EXPECT_NE(refusal("a,b\n").find("has a header but no rows"), std::string::npos);
  EXPECT_NE(refusal(std::string("a\n1\n\0", 5)).find("d.csv:3: holds a NUL byte"),
            std::string::npos);
  EXPECT_NE(refusal("\xFF\xFE"
                    "a")
                .find("UTF-16"),
            std::string::npos);
}

TEST(Csv, RefusesBrokenQuotes) {
  EXPECT_NE(refusal("a,\"b\n1,2\n").find("d.csv:1:2: a quoted field is never closed"),
            std::string::npos);
  EXPECT_NE(refusal("a,b\n1,\"2\"x\n").find("d.csv:2:2: text follows a closing quote"),
            std::string::npos);
}

TEST(Csv, Files) {
  const TempDir dir;
  put(dir / "d.csv", "a\n1\n");
  EXPECT_EQ(read_csv(dir / "d.csv").values, matrix({{1}}));
  EXPECT_EQ(
      message_of<InvalidArgument>([&] { (void)read_csv(dir / "none.csv"); }),
      (dir / "none.csv") + ": there is no such file. Check the path and the working directory.");
  EXPECT_NE(message_of<InvalidArgument>([&] { (void)read_csv(dir.path()); }).find("is a directory"),
            std::string::npos);
}

TEST(Csv, ColumnsByName) {
  const DataTable table = parse_csv("age,height\n1,2\n", "d.csv");
  EXPECT_EQ(column_of(table, "height"), 1);
  EXPECT_EQ(message_of<InvalidArgument>([&] { (void)column_of(table, "hieght"); }),
            "d.csv: there is no column \"hieght\". Did you mean `height`?");
}

TEST(CsvMatrix, HeaderIsOptional) {
  const DataTable bare = parse_csv_matrix("1,2\n3,4\n", "m.csv");
  EXPECT_TRUE(bare.columns.empty());
  EXPECT_EQ(bare.values, matrix({{1, 2}, {3, 4}}));
  EXPECT_EQ(bare.lines, (Lines{1, 2}));
  const DataTable named = parse_csv_matrix("u,v\n1,2\n3,4\n", "m.csv");
  EXPECT_EQ(named.columns, (Names{"u", "v"}));
  EXPECT_EQ(named.values, bare.values);
}

TEST(CsvMatrix, BrokenFirstRowIsNotTakenForNames) {
  EXPECT_EQ(message_of<InvalidArgument>([] { (void)parse_csv_matrix("1,o.5\n3,4\n", "m.csv"); }),
            "m.csv:1:2: field 2 is text, not a finite number. Correct it or remove the row.");
  EXPECT_NE(message_of<InvalidArgument>([] {
              (void)parse_csv_matrix("NA,x\n3,4\n", "m.csv");
            }).find("m.csv:1:1: field 1 is missing"),
            std::string::npos);
}

TEST(CsvMatrix, TheIndexThatPandasWritesIsNotRead) {
  const DataTable named = parse_csv_matrix(",score\n0,1.5\n1,2.5\n", "m.csv");
  EXPECT_EQ(named.columns, std::vector<std::string>{"score"});
  EXPECT_EQ(named.values, matrix({{1.5}, {2.5}}));
  const DataTable texts = parse_csv_matrix(",u,v\na,1,2\n\"b,c\",3,4\n", "m.csv");
  EXPECT_EQ(texts.values, matrix({{1, 2}, {3, 4}}));
  // Columns without names are called 0, 1, ...: then the index counts, too.
  EXPECT_EQ(parse_csv_matrix(",0\n0,1.5\n1,2.5\n", "m.csv").values, matrix({{1.5}, {2.5}}));
  for (const char* text : {",0\n5,1\n6,2\n", ",0\n0,1\n7,2\n", ",3\n0,1\n", ",x,1\n0,1,2\n"}) {
    EXPECT_EQ(message_of<InvalidArgument>([&] {
                (void)parse_csv_matrix(text, "m.csv");
              }).find("m.csv:1:1: field 1"),
              0U)
        << text;
  }
}

TEST(CsvMatrix, AdvisesNoOptionThatOnlyTablesHave) {
  for (const char* text : {"1\n\n2\n", "1,NA\n", "u;v\n1;2\n", "a,b\n1,\"2,5\"\n"}) {
    EXPECT_EQ(
        message_of<InvalidArgument>([&] { (void)parse_csv_matrix(text, "m.csv"); }).find("--"),
        std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace sfumato
