#include "sfumato/fit/bounded_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

PublicTable people() {
  PublicTable table;
  table.features = {NumericColumn{"age", 0.0, 100.0},
                    CategoryColumn{"city", {"Rome", "Oslo", "Lima"}}};
  table.target = "income";
  table.target_low = 0.0, table.target_high = 10.0;
  table.rows = 4;
  return table;
}

BoundedRows parsed(const std::string& text, const PublicTable& table,
                   FitModel model = FitModel::ridge) {
  return bounded_rows(read_rows(CsvRecords(text, "t.csv", ','), table, model), table, model);
}

/// Numbers in memory are levels and classes by their shortest text, as in a file.
TEST(BoundedRows, OfATableInMemoryAreThoseOfAFile) {
  const double age[] = {75, -50, std::nan(""), 10}, city[] = {2, 1.5, 3, 1},
               income[] = {7, 99, 5, std::nan("")};
  const MemoryTable memory{{{"city", MemoryNumbers{city, 4}},
                            {"income", MemoryNumbers{income, 4}},
                            {"age", MemoryNumbers{age, 4}},
                            {"other", std::vector<std::string>{"x", "", "NA", "1"}}}};
  const std::string text = "city,income,age,other\n2,7,75,x\n1.5,99,-50,\n3,5,,NA\n1,,10,1\n";
  PublicTable table = people();
  table.features[1] = CategoryColumn{"city", {"1", "1.5", "2"}};
  for (const FitModel model : {FitModel::ridge, FitModel::softmax}) {
    if (model == FitModel::softmax) table.classes = {"5", "7", "9"};
    const BoundedRows expected = parsed(text, table, model);
    const BoundedRows found =
        bounded_rows(read_rows(CsvRecords(memory, "t"), table, model), table, model);
    EXPECT_EQ(found.features, expected.features);
    EXPECT_EQ(found.target, expected.target);
    EXPECT_GT(found.features.norm(), 1.0);
  }
}

/// Ranges that were released narrow what was read: the file is not needed again.
TEST(BoundedRows, AreTheSameUnderNewBoundsAsReadAfresh) {
  const std::string text =
      "city,income,age,other\nOslo,7,75,x\nRome,99,-50,x\nAtlantis,5,,x\nLima,,10,x\n";
  const PublicTable table = people();
  PublicTable narrower = table;
  std::get<NumericColumn>(narrower.features[0]).high = 70.0;
  narrower.target_high = 6.0;
  narrower.row_norm = 0.9;
  const ReadRows once = read_rows(CsvRecords(text, "t.csv", ','), table, FitModel::ridge);
  const BoundedRows found = bounded_rows(once, narrower, FitModel::ridge);
  const BoundedRows afresh = parsed(text, narrower);
  EXPECT_EQ(found.features, afresh.features);
  EXPECT_EQ(found.target, afresh.target);
  EXPECT_NE(found.features, parsed(text, table).features);
}

TEST(BoundedRows, AreScaledClippedAndCoded) {
  const BoundedRows rows = parsed(
      "city,income,age,other\nOslo,7,75,x\nRome,99,-50,x\nAtlantis,5,,x\nLima,,10,x\n", people());
  ASSERT_EQ(rows.features.rows(), 4);
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(0)),
            (Eigen::RowVectorXd(4) << 0.5, 1, 0, 1).finished());
  EXPECT_EQ(rows.target(0), 2.0);
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(1)),
            (Eigen::RowVectorXd(4) << -1, 0, 0, 1).finished());
  EXPECT_EQ(rows.target(1), 5.0);  // at the end of its range
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(2)),
            (Eigen::RowVectorXd(4) << 0, 0, 0, 1).finished());
  EXPECT_TRUE(rows.features.row(3).isZero(0.0));  // no target: a null record
  EXPECT_EQ(rows.target(3), 0.0);
}

TEST(BoundedRows, LongRowsAreShortenedWithTheirTarget) {
  PublicTable table = people();
  table.row_norm = 1.0;
  const BoundedRows rows = parsed("city,income,age\nOslo,10,100\n", table);
  EXPECT_LE(rows.features.row(0).norm(), 1.0);
  EXPECT_NEAR(rows.features.row(0).norm(), 1.0, 1e-9);
  EXPECT_NEAR(rows.target(0) / 5.0, 1.0 / std::sqrt(3.0), 1e-9);
}

TEST(BoundedRows, ClassesAreNumbersAndOthersAreNull) {
  PublicTable table = people();
  table.classes = {"no", "yes"};
  const BoundedRows rows =
      parsed("city,income,age\nOslo,yes,1\nRome,no,2\nRome,perhaps,3\n", table, FitModel::logistic);
  EXPECT_EQ(rows.target(0), 1.0);
  EXPECT_EQ(rows.target(1), 0.0);
  EXPECT_EQ(rows.target(2), -1.0);
  EXPECT_TRUE(rows.features.row(2).isZero(0.0));
}

TEST(BoundedRows, RefusesWhatBreaksTheGuarantee) {
  const std::string head = "city,income,age\n";
  const auto message = [&](const std::string& text, const PublicTable& table) {
    try {
      (void)parsed(text, table);
      return std::string("nothing was thrown");
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
  };
  std::string many = head;
  for (int i = 0; i < 5; ++i) many += "Oslo,1,2\n";
  EXPECT_NE(message(many, people()).find("more than the 4 records that were declared"),
            std::string::npos);
  EXPECT_NE(message(head + "Oslo,1,old\n", people()).find("t.csv:2:3"), std::string::npos);
  EXPECT_NE(message("city,income\nOslo,1\n", people()).find("no column \"age\""),
            std::string::npos);
  EXPECT_NE(message(head + "Oslo,1\n", people()).find("2 fields"), std::string::npos);
  PublicTable constant = people();
  constant.features[0] = NumericColumn{"age", 3.0, 3.0};
  EXPECT_NE(message(head + "Oslo,1,2\n", constant).find("range 3 to 3"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
