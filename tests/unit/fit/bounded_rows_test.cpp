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
  PublicTable table = people();
  std::get<NumericColumn>(table.features[0]).missing = MiddleOfRange{};
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
      "city,income,age,other\nOslo,7,75,x\nRome,99,-50,x\nAtlantis,5,50,x\nLima,,10,x\n", people());
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

/// A number beyond every double's quotient is at the end of its range, not in the middle.
TEST(BoundedRows, HugeNumbersAreAtTheEndsOfTheirRange) {
  PublicTable table = people();
  table.features[0] = NumericColumn{"age", 0.0, 1e-30};
  const BoundedRows rows = parsed("city,income,age\nOslo,5,1e300\nOslo,5,-1e300\n", table);
  EXPECT_EQ(rows.features(0, 0), 1.0);
  EXPECT_EQ(rows.features(1, 0), -1.0);
}

TEST(MissingValues, DropTheRecordUnlessSomethingElseIsDeclared) {
  for (const char* nothing : {"", "?", "NA", "nan", "null", "inf", "-inf", "1e400"}) {
    const BoundedRows rows =
        parsed(std::string("city,income,age\nOslo,7,75\nOslo,7,") + nothing + "\n", people());
    EXPECT_FALSE(rows.features.row(0).isZero(0.0));
    EXPECT_TRUE(rows.features.row(1).isZero(0.0)) << nothing;  // not even the intercept
    EXPECT_EQ(rows.target(1), 0.0) << nothing;
  }
  for (const char* nothing : {"", "?", "NA", "nan", "null"}) {
    const BoundedRows rows =
        parsed(std::string("city,income,age\n") + nothing + ",7,75\nAtlantis,7,75\n", people());
    EXPECT_TRUE(rows.features.row(0).isZero(0.0)) << nothing;
    EXPECT_EQ(rows.features(1, 3), 1.0);  // an unknown level is the reference
    EXPECT_EQ(rows.features(1, 1) + rows.features(1, 2), 0.0);
  }
  PublicTable classes = people();
  classes.classes = {"no", "yes"};
  const BoundedRows rows =
      parsed("city,income,age\nOslo,yes,\nOslo,yes,1\n", classes, FitModel::logistic);
  EXPECT_EQ(rows.target(0), -1.0);
  EXPECT_TRUE(rows.features.row(0).isZero(0.0));
}

TEST(MissingValues, OfADeclaredLevelAreThatLevel) {
  PublicTable table = people();
  table.features[1] = CategoryColumn{"city", {"Rome", "", "NA"}};
  const BoundedRows rows = parsed("city,income,age\n,7,75\nNA,7,75\n?,7,75\n", table);
  EXPECT_EQ(rows.features(0, 1), 1.0);
  EXPECT_EQ(rows.features(1, 2), 1.0);
  EXPECT_TRUE(rows.features.row(2).isZero(0.0));
}

TEST(MissingValues, FollowTheRuleOfTheirColumn) {
  PublicTable table = people();
  const std::string text = "city,income,age\nOslo,7,\n,7,75\n";
  std::get<NumericColumn>(table.features[0]).missing = MiddleOfRange{};
  std::get<CategoryColumn>(table.features[1]).missing = FillLevel{"Lima"};
  BoundedRows rows = parsed(text, table);
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(0)),
            (Eigen::RowVectorXd(4) << 0, 1, 0, 1).finished());
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(1)),
            (Eigen::RowVectorXd(4) << 0.5, 0, 1, 1).finished());
  EXPECT_TRUE(rows.filled(0, 0));
  EXPECT_EQ(rows.filled.count(), 1);
  std::get<NumericColumn>(table.features[0]).missing = FillNumber{25.0};
  rows = parsed(text, table);
  EXPECT_EQ(rows.features(0, 0), -0.5);
  EXPECT_EQ(rows.filled.size(), 0);  // it is a value like others
  const double bound = table.bound();
  std::get<NumericColumn>(table.features[0]).missing = MissingIndicator{};
  std::get<CategoryColumn>(table.features[1]).missing = MissingIndicator{};
  EXPECT_EQ(table.parameters(),
            (std::vector<std::string>{"age", "age=(missing)", "city=Oslo", "city=Lima",
                                      "city=(missing)", "intercept"}));
  EXPECT_EQ(table.dim(), 6);
  EXPECT_EQ(table.bound(), bound);  // the further feature is 1 only where the others are 0
  rows = parsed(text, table);
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(0)),
            (Eigen::RowVectorXd(6) << 0, 1, 1, 0, 0, 1).finished());
  EXPECT_EQ(Eigen::RowVectorXd(rows.features.row(1)),
            (Eigen::RowVectorXd(6) << 0.5, 0, 0, 0, 1, 1).finished());
  EXPECT_LE(rows.features.rowwise().norm().maxCoeff(), bound);
}

TEST(MissingValues, HaveNamesThatAreReadBack) {
  const Where where = Where::here("test");
  for (const char* rule : {"drop", "middle", "indicator", "value:-2.5"}) {
    EXPECT_EQ(name(parse_missing(rule, where)), rule);
  }
  for (const char* wrong : {"", "mean", "value:", "value:x", "value:inf", "Drop"}) {
    EXPECT_THROW((void)parse_missing(wrong, where), InvalidArgument) << wrong;
  }
  PublicTable table = people();
  EXPECT_EQ(describe_missing(table), "drop");
  std::get<NumericColumn>(table.features[0]).missing = MiddleOfRange{};
  EXPECT_EQ(describe_missing(table), "middle in age; drop in city");
  std::get<NumericColumn>(table.features[0]).missing = FillNumber{101.0};
  EXPECT_THROW(require_public(table, FitModel::ridge), InvalidArgument);
  std::get<NumericColumn>(table.features[0]).missing = FillNumber{100.0};
  EXPECT_NO_THROW(require_public(table, FitModel::ridge));
  std::get<CategoryColumn>(table.features[1]).missing = FillLevel{"Paris"};
  EXPECT_THROW(require_public(table, FitModel::ridge), InvalidArgument);
}

/// Fourth powers of the target's range and squares of the others are computed.
TEST(PublicTable, RefusesRangesWhoseSquaresAreNoDoubles) {
  for (const auto& [low, high] :
       {std::pair(0.0, 1e308), std::pair(0.0, 1e-320), std::pair(1e61, 1e62),
        std::pair(-1e308, 1e308), std::pair(0.0, 9e-61)}) {
    PublicTable table = people();
    table.target_low = low, table.target_high = high;
    EXPECT_THROW(require_public(table, FitModel::ridge), InvalidArgument) << high;
    table = people();
    table.features[0] = NumericColumn{"age", low, high};
    EXPECT_THROW(require_public(table, FitModel::ridge), InvalidArgument) << high;
  }
  PublicTable table = people();
  table.target_low = -1e60, table.target_high = 1e60;
  EXPECT_NO_THROW(require_public(table, FitModel::ridge));
  table.row_norm = 1e200;
  EXPECT_THROW(require_public(table, FitModel::ridge), InvalidArgument);
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
