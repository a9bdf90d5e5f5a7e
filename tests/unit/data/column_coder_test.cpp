#include "sfumato/data/column_coder.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/data/csv.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

DataTable parsed(std::string_view text, MissingPolicy missing = MissingPolicy::keep,
                 std::vector<std::string> as_text = {}) {
  CsvOptions options;
  options.keep_text = true;
  options.missing = missing;
  options.as_text = std::move(as_text);
  return parse_csv(text, "t.csv", options);
}

CodingChoice with(Impute impute) { return {false, {}, impute, true}; }

std::string refusal(const DataTable& table, const CodingChoice& choice) {
  return message_of<InvalidArgument>([&] { (void)coding_of(table, 0, choice); });
}

TEST(ColumnCoder, CategoriesAreIndicatorsOfEachLevelButTheFirst) {
  const DataTable table = parsed("c,y\nred,1\nblue,2\ngreen,3\nblue,4\n");
  const ColumnCoding coding = coding_of(table, 0, {});
  EXPECT_EQ(coding.kind, ColumnKind::category);
  EXPECT_EQ(coding.levels, (std::vector<std::string>{"blue", "green", "red"}));
  EXPECT_EQ(coding.counts, (std::vector<std::size_t>{2, 1, 1}));
  EXPECT_EQ(names_of(coding), (std::vector<std::string>{"c=green", "c=red"}));
  MatrixXd values(4, 2);
  values << 0, 1, 0, 0, 1, 0, 0, 0;
  EXPECT_EQ(coded(coding, table, 0), values);
}

TEST(ColumnCoder, AnotherReference) {
  const DataTable table = parsed("c,y\nred,1\nblue,2\ngreen,3\nblue,4\n");
  const ColumnCoding coding = coding_of(table, 0, {true, "green", Impute::refuse, true});
  EXPECT_EQ(coding.levels, (std::vector<std::string>{"green", "blue", "red"}));
  EXPECT_EQ(coding.counts, (std::vector<std::size_t>{1, 2, 1}));
  EXPECT_EQ(refusal(table, {true, "pink", Impute::refuse, true}),
            "t.csv: column \"c\" has no level \"pink\". Levels: \"blue\" and 2 others.");
}

TEST(ColumnCoder, BooleansInTheUsualSpellings) {
  for (const char* text : {"b\nTrue\nFalse\nTRUE\n", "b\nyes\nNo\nYES\n", "b\n1\n0\n1\n"}) {
    const DataTable table = parsed(text);
    const ColumnCoding coding = coding_of(table, 0, {});
    EXPECT_NE(coding.kind, ColumnKind::category) << text;
    EXPECT_EQ(coded(coding, table, 0), VectorXd(Eigen::Vector3d(1, 0, 1))) << text;
  }
  const DataTable table = parsed("b\nyes\nno\nyes\nno\n");
  EXPECT_EQ(coding_of(table, 0, {true, {}, Impute::refuse, true}).kind, ColumnKind::category);
}

TEST(ColumnCoder, NumbersAreCategoriesIfAskedFor) {
  const DataTable table = parsed("c,y\n1,5\n2,6\n1,7\n", MissingPolicy::keep, {"c"});
  const ColumnCoding coding = coding_of(table, 0, {true, {}, Impute::refuse, true});
  EXPECT_EQ(names_of(coding), std::vector<std::string>{"c=2"});
  EXPECT_EQ(coded(coding, table, 0), VectorXd(Eigen::Vector3d(0, 1, 0)));
}

TEST(ColumnCoder, MissingValuesAreImputed) {
  const DataTable numbers = parsed("x,y\n5,0\n,0\n1,0\n1,0\n3,0\n9,0\n");
  EXPECT_EQ(coding_of(numbers, 0, with(Impute::median)).fill, 3.0);
  EXPECT_EQ(coding_of(numbers, 0, with(Impute::mode)).fill, 1.0);
  EXPECT_EQ(coding_of(numbers, 0, with(Impute::mode)).filled, 1U);
  const ColumnCoding coding = coding_of(numbers, 0, with(Impute::median));
  EXPECT_EQ(coded(coding, numbers, 0)(1, 0), 3.0);
  const DataTable even = parsed("x,y\n5,0\n?,0\n1,0\n");
  EXPECT_EQ(coding_of(even, 0, with(Impute::median)).fill, 3.0);
  const DataTable texts = parsed("c,y\nb,0\na,0\nNA,0\nb,0\n");
  const ColumnCoding levels = coding_of(texts, 0, with(Impute::median));
  EXPECT_EQ(levels.levels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(coded(levels, texts, 0), VectorXd(Eigen::Vector4d(1, 0, 1, 1)));
  const DataTable booleans = parsed("b,y\nyes,0\n,0\nno,0\nyes,0\n");
  EXPECT_EQ(coded(coding_of(booleans, 0, with(Impute::mode)), booleans, 0)(1, 0), 1.0);
  EXPECT_NE(refusal(parsed("x,y\n,0\nNA,0\n"), with(Impute::mode)).find("no value at all"),
            std::string::npos);
}

TEST(ColumnCoder, LevelsOfDroppedRowsAreNone) {
  const DataTable table = parsed("c,x\na,1\nb,2\nrare,\na,3\nb,4\n", MissingPolicy::drop_row);
  EXPECT_EQ(table.dropped, 1U);
  EXPECT_EQ(coding_of(table, 0, {}).levels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(coded(coding_of(table, 0, {}), table, 0), VectorXd(Eigen::Vector4d(0, 1, 0, 1)));
}

TEST(ColumnCoder, TextAmongNumbersIsAMistake) {
  const DataTable table = parsed("x,y\n1,0\n2,0\nthree,0\n");
  EXPECT_EQ(
      refusal(table, {false, {}, Impute::refuse, true}),
      "t.csv:4:1: field 1 (\"x\") is text, and other rows have numbers. Correct it, or name the "
      "column in `categorical` to read all of it as categories.");
  EXPECT_EQ(
      refusal(table, {}),
      "t.csv:4:1: field 1 (\"x\") is text, and other rows have numbers. Correct it or remove the "
      "row.");
}

TEST(ColumnCoder, NamesOfRowsAreNoCategories) {
  EXPECT_EQ(
      refusal(parsed("who,y\nAda,1\nBo,2\n"), {false, {}, Impute::refuse, true}),
      "t.csv:2:1: field 1 (\"who\") is text, 2 different values in 2 rows. If it names the rows, "
      "give it as `id`; leave it out with `exclude`; or name it in `categorical` to make each "
      "value a category.");
  std::string many = "c\n";
  for (int i = 0; i < 101; ++i) {
    for (int repeats = 0; repeats < 3; ++repeats) many += "level " + std::to_string(i) + "\n";
  }
  EXPECT_NE(refusal(parsed(many), {}).find("101 different values in 303 rows"), std::string::npos);
  EXPECT_EQ(coding_of(parsed(many), 0, {true, {}, Impute::refuse, true}).width(), 100U);
}

TEST(ColumnCoder, AnotherTableIsCodedAlike) {
  const DataTable table = parsed("c,y\na,1\nb,2\na,3\nb,4\n");
  const ColumnCoding coding = coding_of(table, 0, {});
  const DataTable other = parsed("c,y\nb,1\n");
  EXPECT_EQ(coded(coding, other, 0)(0, 0), 1.0);
  EXPECT_EQ(message_of<InvalidArgument>([&] { (void)coded(coding, parsed("c,y\nz,1\n"), 0); }),
            "t.csv:2:1: field 1 (\"c\") is not one of the table's levels. Levels: \"a\", \"b\".");
  EXPECT_NE(message_of<InvalidArgument>([&] {
              (void)coded(coding, parsed("c,y\n7,1\n"), 0);
            }).find("t.csv:2:1"),
            std::string::npos);
  ColumnCoding number;
  number.column = "c";
  EXPECT_NE(
      message_of<InvalidArgument>([&] { (void)coded(number, other, 0); }).find("not a number"),
      std::string::npos);
}

TEST(ColumnCoder, Labels) {
  const DataTable table = parsed("y,x\n>50K,1\n<=50K,2\n<=50K,3\n", MissingPolicy::keep, {"y"});
  EXPECT_EQ(coded_label(table, 0, ">50K"), Eigen::Vector3d(1, 0, 0));
  EXPECT_EQ(message_of<InvalidArgument>([&] { (void)coded_label(table, 0, "rich"); }),
            "t.csv: column \"y\" has no value \"rich\". Its values: \"<=50K\" and 1 other.");
}

TEST(ColumnCoder, LevelsThatOneRowHasAreNotTold) {
  EXPECT_EQ(shown_levels({"a", "b", "c"}, {1, 5, 2}), "\"b\", \"c\" and 1 other");
  EXPECT_EQ(shown_levels({"a", "b"}, {1, 1}), "2 different values");
}

}  // namespace
}  // namespace sfumato
