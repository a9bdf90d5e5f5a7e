#include "sfumato/data/array.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

TEST(Array, ShapesArePrintedAsNumPyDoes) {
  EXPECT_EQ(shape_text(scalar_array(2.0)), "()");
  EXPECT_EQ(shape_text(vector_array(Eigen::Vector3d(1, 2, 3))), "(3,)");
  EXPECT_EQ(shape_text(matrix_array(Eigen::MatrixXd::Zero(3, 4))), "(3, 4)");
}

TEST(Array, TheSuffixTellsTheFormat) {
  EXPECT_EQ(array_suffix("a/b.csv"), ".csv");
  EXPECT_EQ(array_suffix("b.NPY"), ".npy");
  EXPECT_THROW((void)array_suffix("b.txt"), InvalidArgument);
  EXPECT_EQ(suffix_of("x.tar.GZ"), ".gz");
  EXPECT_EQ(suffix_of("a.b/c"), "");
}

TEST(Array, ASingleRowOrColumnOfCsvIsAVector) {
  const TempDir dir;
  put(dir / "row.csv", "1,2,3\n");
  put(dir / "column.csv", "1\n2\n");
  put(dir / "matrix.csv", "1,2\n3,4\n");
  EXPECT_EQ(read_array(dir / "row.csv").rank, 1);
  EXPECT_EQ(read_array(dir / "row.csv").values, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(read_array(dir / "column.csv").rank, 1);
  EXPECT_EQ(read_array(dir / "matrix.csv").rank, 2);
}

TEST(RequireAllFinite, NamesRowAndColumn) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Ones(2, 3);
  EXPECT_NO_THROW(require_all_finite("A", m));
  m(1, 2) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_of<InvalidArgument>([&] { require_all_finite("A", m, Where::in("a.npy")); }),
            "a.npy: A has -inf in row 2, column 3. Every entry must be a finite number.");
  m(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of<InvalidArgument>([&] {
              require_all_finite("A", m);
            }).find("A has nan in row 1, column 2"),
            std::string::npos);
}

}  // namespace
}  // namespace sfumato
