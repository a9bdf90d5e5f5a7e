#include "sfumato/data/row_matrix.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(const std::string& path) {
  return message_of<InvalidArgument>([&] { (void)read_row_matrix(path); });
}

void expect_two_by_three(const RowMatrix& matrix, const std::string& what) {
  ASSERT_EQ(matrix.rows(), 2) << what;
  ASSERT_EQ(matrix.cols(), 3) << what;
  for (Eigen::Index k = 0; k < 2; ++k) {
    for (Eigen::Index i = 0; i < 3; ++i) {
      EXPECT_EQ(matrix.view()(k, i), static_cast<double>(3 * k + i + 1)) << what;
    }
  }
}

TEST(RowMatrix, ReadsEveryKindOfNpyByRows) {
  const TempDir dir;
  run_numpy(dir, R"(
m = np.arange(1, 7).reshape(2, 3)
np.save('c.npy', m.astype('<f8'))
np.save('fortran.npy', np.asfortranarray(m.astype('<f8')))
np.save('big.npy', m.astype('>f8'))
np.save('single.npy', np.asfortranarray(m.astype('<f4')))
np.save('integer.npy', m.astype('<i8'))
np.save('vector.npy', np.arange(3.0))
np.save('number.npy', np.float64(7))
)");
  for (const char* name : {"c.npy", "fortran.npy", "big.npy", "single.npy", "integer.npy"}) {
    expect_two_by_three(read_row_matrix(dir / name), name);
  }
  const RowMatrix vector = read_row_matrix(dir / "vector.npy");
  EXPECT_EQ(vector.rows(), 1);
  EXPECT_EQ(vector.view()(0, 2), 2.0);
  EXPECT_EQ(read_row_matrix(dir / "number.npy").view()(0, 0), 7.0);
}

TEST(RowMatrix, ReadsCsvAndSurvivesMoves) {
  const TempDir dir;
  put(dir / "m.csv", "1,2,3\n4,5,6\n");
  RowMatrix first = read_row_matrix(dir / "m.csv");
  const RowMatrix moved = std::move(first);
  expect_two_by_three(moved, "csv");
  run_numpy(dir, "np.save('m.npy', np.arange(1.0, 7.0).reshape(2, 3))\n");
  RowMatrix npy = read_row_matrix(dir / "m.npy");
  const RowMatrix also = std::move(npy);
  expect_two_by_three(also, "npy");
  put(dir / "column.csv", "1\n2\n");
  EXPECT_EQ(read_row_matrix(dir / "column.csv").rows(), 2);
}

TEST(RowMatrix, RefusesWhatIsNoMatrix) {
  const TempDir dir;
  run_numpy(dir, R"(
m = np.ones((2, 3)); m[1, 2] = np.nan
np.save('nan.npy', m)
np.save('cube.npy', np.ones((2, 2, 2)))
open('cut.npy', 'wb').write(open('nan.npy', 'rb').read()[:-8])
open('head.npy', 'wb').write(open('nan.npy', 'rb').read()[:20])
)");
  EXPECT_NE(refusal(dir / "nan.npy").find("row 2, column 3"), std::string::npos);
  EXPECT_NE(refusal(dir / "cube.npy").find("3 axes"), std::string::npos);
  EXPECT_NE(refusal(dir / "cut.npy").find("truncated"), std::string::npos);
  EXPECT_FALSE(refusal(dir / "head.npy").empty());
  put(dir / "empty.csv", "");
  put(dir / "empty.npy", "");
  put(dir / "header.csv", "a,b\n");
  put(dir / "m.txt", "1,2\n");
  EXPECT_NE(refusal(dir / "empty.csv").find("is empty"), std::string::npos);
  EXPECT_FALSE(refusal(dir / "empty.npy").empty());
  EXPECT_NE(refusal(dir / "header.csv").find("no rows"), std::string::npos);
  EXPECT_NE(refusal(dir / "m.txt").find(".csv"), std::string::npos);
  EXPECT_NE(refusal(dir / "none.npy").find("no such file"), std::string::npos);
  std::filesystem::create_directory(dir / "dir.npy");
  EXPECT_NE(refusal(dir / "dir.npy").find("directory"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
