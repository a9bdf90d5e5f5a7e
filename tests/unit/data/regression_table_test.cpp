#include "sfumato/data/regression_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/npy.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

class RegressionTable : public testing::Test {
 protected:
  RegressionTable() { put(path, "who,a,b,y\nAda,1,10,3\nBo,3,30,5\n\"C, D\",5,20,4\n"); }
  [[nodiscard]] RegressionInput read(const RegressionColumns& columns,
                                     const std::string& with = "") const {
    return read_regression(path, columns, {}, with);
  }
  void refused(const RegressionColumns& columns, const std::string& words,
               const std::string& with = "") const {
    const std::string message = message_of<InvalidArgument>([&] { (void)read(columns, with); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
  static RegressionColumns columns(const std::string& standardise = "") {
    RegressionColumns result;
    result.target = "y";
    result.id = "who";
    result.standardise = standardise;
    return result;
  }
  TempDir dir;
  std::string path = dir / "t.csv";
};

TEST_F(RegressionTable, FeaturesTargetInterceptAndIds) {
  const RegressionInput input = read(columns());
  Eigen::MatrixXd features(3, 3);
  features << 1, 10, 1, 3, 30, 1, 5, 20, 1;
  EXPECT_EQ(input.features, features);
  EXPECT_EQ(input.target, Eigen::Vector3d(3, 5, 4));
  EXPECT_EQ(input.parameters, (std::vector<std::string>{"a", "b", "(intercept)"}));
  EXPECT_EQ(input.ids, (std::vector<std::string>{"Ada", "Bo", "C, D"}));
  EXPECT_EQ(input.lines, (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(input.checksum.size(), 64U);
  EXPECT_TRUE(input.not_rescaled.empty());
  EXPECT_FALSE(input.replacement);
}

TEST_F(RegressionTable, FeaturesInTheOrderInWhichTheyAreNamed) {
  RegressionColumns some = columns();
  some.features = {"b", "a"};
  some.intercept = false;
  some.id.clear();  // a column that is not named may hold anything
  const RegressionInput input = read(some);
  EXPECT_EQ(input.features.row(1), Eigen::RowVector2d(30, 3));
  EXPECT_TRUE(input.ids.empty());
}

TEST_F(RegressionTable, NamesAreCheckedBeforeValues) {
  RegressionColumns wrong;  // without the id the first column is text, which is not said yet
  wrong.target = "z";
  refused(wrong, "there is no column \"z\"");
  wrong.target = "y";
  refused(wrong, "t.csv:2:1: field 1 (\"who\") is text");
  wrong = columns();
  wrong.id = "name";
  refused(wrong, "there is no column \"name\"");
  wrong = columns();
  wrong.features = {"a", "a"};
  refused(wrong, "named twice");
  wrong.features = {"a", "y"};
  refused(wrong, "both target and feature");
  wrong.features = {"a", "who"};
  refused(wrong, "both id and feature");
  wrong.features = {};
  wrong.id = "y";
  refused(wrong, "both id and target");
}

TEST_F(RegressionTable, StandardisesByItselfAFileOrConstants) {
  const RegressionInput self = read(columns("self"));
  EXPECT_NEAR(self.features.col(0).sum(), 0.0, 1e-15);
  EXPECT_NEAR(self.features.col(0).squaredNorm(), 3.0, 1e-14);
  EXPECT_NEAR(self.target.squaredNorm(), 3.0, 1e-14);
  put(dir / "c.csv", "a,y\n1,4\n2,0.5\n");
  const RegressionInput file = read(columns(dir / "c.csv"));
  EXPECT_EQ(file.features.col(0), Eigen::Vector3d(0, 1, 2));
  EXPECT_EQ(file.features.col(1), Eigen::Vector3d(10, 30, 20));
  EXPECT_EQ(file.target, Eigen::Vector3d(-2, 2, 0));
  EXPECT_EQ(file.not_rescaled, std::vector<std::string>{"b"});
  RegressionColumns constants = columns();
  constants.constants = Standardisation{2.0, {0.5, 0.0, 4.0}, {1.0, 5.0, 0.5}};
  const RegressionInput given = read(constants);
  EXPECT_EQ(given.features.col(0), Eigen::Vector3d(0, 1, 2));
  EXPECT_EQ(given.features.col(1), Eigen::Vector3d(1, 3, 2));
  EXPECT_EQ(given.target, Eigen::Vector3d(-2, 2, 0));  // its own constants, without the divisor
}

TEST_F(RegressionTable, ConstantsThatDoNotFit) {
  put(dir / "c.csv", "a\n1\n0\n");
  refused(columns(dir / "c.csv"), "c.csv:3: the scale of \"a\" is 0");
  put(dir / "c.csv", "aa\n1\n1\n");
  refused(columns(dir / "c.csv"), "\"aa\" is neither the target nor a feature");
  put(dir / "c.csv", "a\n1\n");
  refused(columns(dir / "c.csv"), "has 1 rows of numbers");
  RegressionColumns constants = columns();
  constants.constants = Standardisation{1.0, {1.0}, {}};
  refused(constants, "`means` has 1 numbers, the table 2 features");
  constants.constants = Standardisation{1.0, {}, {1.0, 0.0}};
  refused(constants, "the deviation 0 is not");
  constants.constants = Standardisation{0.0, {}, {}};
  refused(constants, "`divisor` = 0 is not");
}

TEST_F(RegressionTable, LabelsStayAsTheyAre) {
  put(path, "a,y\n1,0\n3,1\n");
  RegressionColumns labels = columns("self");
  labels.id.clear();
  labels.classes = 2;
  EXPECT_EQ(read(labels).target, Eigen::Vector2d(0, 1));
  labels.standardise.clear();
  labels.constants = Standardisation{1.0, {2.0, 9.0}, {1.0, 9.0}};
  EXPECT_EQ(read(labels).target, Eigen::Vector2d(0, 1));
  EXPECT_EQ(read(labels).features.col(0), Eigen::Vector2d(-1, 1));
  labels.constants.reset();
  put(dir / "c.csv", "y\n1\n2\n");
  labels.standardise = dir / "c.csv";
  refused(labels, "\"y\" is a label and cannot be rescaled");
  put(path, "a,y\n1,0\n3,2\n");
  labels.standardise.clear();
  refused(labels, "t.csv:3: the label in column \"y\" is neither 0 nor 1");
}

TEST_F(RegressionTable, TheReplacementIsRescaledAlike) {
  put(dir / "o.csv", "note,y,b,a\nx,5,20,7\n");
  put(dir / "c.csv", "a,y\n1,4\n2,0.5\n");
  const RegressionInput input = read(columns(dir / "c.csv"), dir / "o.csv");
  ASSERT_TRUE(input.replacement);
  EXPECT_EQ(input.replacement->features, Eigen::Vector3d(3, 20, 1));
  EXPECT_EQ(input.replacement->target, 2.0);
  put(dir / "o.csv", "a,b,y\n1,2,3\n4,5,6\n");
  refused(columns(), "o.csv: has 2 records", dir / "o.csv");
}

TEST_F(RegressionTable, CategoriesBooleansAndLabels) {
  put(path,
      "id,age,job,vip,income\n1,30,clerk,yes,high\n2,50,smith,no,low\n3,,clerk,no,low\n4,40,?,yes,"
      "high\n");
  RegressionColumns columns;
  columns.target = "income";
  columns.positive = "high";
  columns.classes = 2;
  columns.exclude = {"id"};
  columns.impute = Impute::median;
  columns.standardise = "self";
  put(dir / "o.csv", "age,job,vip,income\n40,smith,yes,low\n");
  const RegressionInput input = read(columns, dir / "o.csv");
  EXPECT_EQ(input.parameters, (std::vector<std::string>{"age", "job=smith", "vip", "(intercept)"}));
  EXPECT_EQ(input.target, Eigen::Vector4d(1, 0, 0, 1));
  EXPECT_EQ(input.features.col(1), Eigen::Vector4d(0, 1, 0, 0));    // indicators stay 0 and 1
  EXPECT_EQ(input.features.col(2), Eigen::Vector4d(1, -1, -1, 1));  // a boolean is a number
  EXPECT_EQ(input.features(2, 0), 0.0);                             // imputed before rescaling
  ASSERT_TRUE(input.replacement);
  EXPECT_EQ(input.replacement->features, Eigen::Vector4d(0, 1, 1, 1));
  EXPECT_EQ(input.replacement->target, 0.0);
  EXPECT_FALSE(input.spread);
  put(dir / "o.csv", "age,job,vip,income\n40,smith,yes,lo\n");
  refused(columns, "o.csv:2:4: field 4 (\"income\") is not a label", dir / "o.csv");
  columns.impute = Impute::drop;
  columns.categorical = {"job"};  // two levels in two rows look like names otherwise
  EXPECT_EQ(read(columns).dropped, 2U);
  columns.impute = Impute::refuse;
  refused(columns, "t.csv:4:2: field 2 (\"age\") is missing");
  columns.impute = Impute::mode;
  columns.positive.clear();
  refused(columns, "the target \"income\" is text: \"high\", \"low\"");
  put(path, "a,y\n1,2\n2,\n");
  columns = {};
  columns.target = "y";
  columns.impute = Impute::mode;
  refused(columns, "t.csv:3:2: the target is missing, and targets are not imputed");
  columns.exclude = {"y"};
  refused(columns, "both excluded and target");
  columns.exclude = {"b"};
  refused(columns, "there is no column \"b\"");
}

TEST_F(RegressionTable, SpreadsOfNumbersThatAreNotStandardised) {
  put(path, "a,b,k,c,y\n1,100,5,p,1\n2,300,5,q,2\n3,200,5,p,3\n4,400,5,q,9\n");
  RegressionColumns columns;
  columns.target = "y";
  const RegressionInput input = read(columns);
  ASSERT_TRUE(input.spread);
  EXPECT_EQ(input.spread->widest, "b");
  EXPECT_EQ(input.spread->narrowest, "a");
  EXPECT_NEAR(input.spread->ratio, 100.0, 1e-9);
  EXPECT_EQ(input.target_scale, 1.0);
  columns.standardise = "self";
  EXPECT_FALSE(read(columns).spread);
  EXPECT_NEAR(read(columns).target_scale, std::sqrt(9.6875), 1e-12);
  columns.standardise.clear();
  columns.constants = Standardisation{2.0, {0, 0, 0, 0, 4.0}, {1, 1, 1, 1, 0.5}};
  EXPECT_NEAR(read(columns).target_scale, 0.5, 1e-12);
}

TEST_F(RegressionTable, ColumnsWithoutNamesHaveNumbers) {
  RegressionColumns last;
  last.file = TableFile::matrix;
  put(path, "1,10,3\n3,30,5\n");
  EXPECT_EQ(read(last).target, Eigen::Vector2d(3, 5));
  Eigen::MatrixXd values(2, 3);
  values << 1, 10, 3, 3, 30, 5;
  path = dir / "t.npy";
  write_npy(path, matrix_array(values));
  last.target = "2";
  last.intercept = false;
  const RegressionInput input = read(last);
  EXPECT_EQ(input.target, Eigen::Vector2d(10, 30));
  EXPECT_EQ(input.features.row(1), Eigen::RowVector2d(3, 5));
  EXPECT_EQ(input.parameters, (std::vector<std::string>{"1", "3"}));
  last.target = "4";
  refused(last, "there is no column \"4\"");
}

}  // namespace
}  // namespace sfumato
