#include "lab/images/labelled_table.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/npy.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

const std::string kCsv = "a,class,b\n1,0,2\n3,2,4.5\n";

TEST(LabelledTable, CsvByName) {
  const TempDir dir;
  put(dir / "t.csv", kCsv);
  const LabelledSet set = read_labelled_table(dir / "t.csv", {"class", 0, {}});
  EXPECT_EQ(set.shape, (ImageShape{2, 1, 1}));
  EXPECT_EQ(set.classes, 3);
  EXPECT_EQ(set.labels, (std::vector<std::uint8_t>{0, 2}));
  EXPECT_EQ(std::get<std::vector<float>>(set.values), (std::vector<float>{1, 2, 3, 4.5}));
  EXPECT_EQ(set.checksum, sha256(kCsv));
  std::vector<float> inputs(2);
  standardised(set, 1, inputs);
  EXPECT_EQ(inputs, (std::vector<float>{3, 4.5}));
}

TEST(LabelledTable, ConstantsArePerColumn) {
  const TempDir dir;
  put(dir / "t.csv", kCsv);
  const LabelledSet set =
      read_labelled_table(dir / "t.csv", {"class", 5, {1.0, {1.0, 2.0}, {2.0, 5.0}}});
  EXPECT_EQ(set.classes, 5);
  std::vector<float> inputs(2);
  standardised(set, 1, inputs);
  EXPECT_EQ(inputs, (std::vector<float>{1.0, 0.5}));
  EXPECT_THROW((void)read_labelled_table(dir / "t.csv", {"class", 0, {1.0, {1.0}, {}}}),
               InvalidArgument);
}

TEST(LabelledTable, TextIsCodedAsInAnotherTable) {
  const TempDir dir;
  put(dir / "t.csv", "ward,age,class\na,1,0\nb,2,1\nc,3,0\nc,3,0\nb,2,1\na,1,0\n");
  put(dir / "test.csv", "class,age,ward\n1,4,c\n0,5,b\n");
  const LabelledSet train = read_labelled_table(dir / "t.csv");
  EXPECT_EQ(train.shape.size(), 3U);
  LabelledTableOptions options;
  options.like = &train;
  const LabelledSet test = read_labelled_table(dir / "test.csv", options);
  // b and c beside a, then the age, whatever levels and order of columns this table has.
  EXPECT_EQ(std::get<std::vector<float>>(test.values), (std::vector<float>{0, 1, 4, 1, 0, 5}));
  EXPECT_EQ(test.labels, (std::vector<std::uint8_t>{1, 0}));
  put(dir / "new.csv", "age,ward,class\n4,d,1\n");
  EXPECT_THROW((void)read_labelled_table(dir / "new.csv", options), InvalidArgument);
}

TEST(LabelledTable, NumbersAreThoseOfTheSameColumns) {
  const TempDir dir;
  put(dir / "t.csv", "age,dose,class\n1,7,0\n2,8,1\n");
  put(dir / "test.csv", "class,dose,age\n1,9,3\n");
  const LabelledSet train = read_labelled_table(dir / "t.csv");
  LabelledTableOptions options;
  options.like = &train;
  const LabelledSet test = read_labelled_table(dir / "test.csv", options);
  EXPECT_EQ(std::get<std::vector<float>>(test.values), (std::vector<float>{3, 9}));
  EXPECT_EQ(test.labels, (std::vector<std::uint8_t>{1}));
  put(dir / "other.csv", "class,dose,years\n1,9,3\n");
  EXPECT_THROW((void)read_labelled_table(dir / "other.csv", options), InvalidArgument);
}

TEST(LabelledTable, NpyByNumberAndTheLastByDefault) {
  const TempDir dir;
  Eigen::MatrixXd values(2, 3);
  values << 1, 7, 0, 0, 8, 1;
  write_npy(dir / "t.npy", matrix_array(values));
  EXPECT_EQ(read_labelled_table(dir / "t.npy").labels, (std::vector<std::uint8_t>{0, 1}));
  const LabelledSet first = read_labelled_table(dir / "t.npy", {"1", 0, {}});
  EXPECT_EQ(first.labels, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(std::get<std::vector<float>>(first.values)[0], 7.0f);
  for (const char* label : {"0", "4", "x", "1.5", "-1"}) {
    EXPECT_THROW((void)read_labelled_table(dir / "t.npy", {label, 0, {}}), InvalidArgument);
  }
}

TEST(LabelledTable, Refusals) {
  const TempDir dir;
  const auto refusal = [&](const std::string& name, const std::string& text,
                           const LabelledTableOptions& options = {}) {
    put(dir / name, text);
    return message_of<InvalidArgument>([&] { (void)read_labelled_table(dir / name, options); });
  };
  const auto has = [](const std::string& message, const std::string& needle) {
    EXPECT_NE(message.find(needle), std::string::npos) << message;
  };
  has(refusal("a.csv", "x,y\n1,0\n2,0.5\n"), "a.csv:3: the label of row 2 is not an integer");
  has(refusal("a.csv", "x,y\n1,-1\n2,0\n"), "the label of row 1");
  has(refusal("a.csv", "x,y\n1,256\n"), "from 0 to 255");
  has(refusal("a.csv", "x,y\n1,1\n2,3\n", {"y", 3, {}}), "the label of row 2");
  has(refusal("a.csv", "x,class\n1,1\n", {"clas", 0, {}}), "class");
  has(refusal("a.csv", "y\n1\n"), "no features");
  has(refusal("a.csv", "x,y\n1e300,1\n"), "single precision");
  has(refusal("a.txt", "x,y\n1,1\n"), "neither .csv nor .npy");
  EXPECT_THROW((void)read_labelled_table(dir / "none.csv"), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
