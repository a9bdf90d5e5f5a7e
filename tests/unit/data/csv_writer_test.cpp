#include "sfumato/data/csv_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/data/csv.hpp"
#include "support/csv_matrix.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

using fixtures::matrix;

TEST(CsvWriter, WritesWhatItReads) {
  const TempDir dir;
  const Eigen::MatrixXd values = matrix({{0.1, -1e300}, {4.9e-324, 12345678.9}});
  fixtures::write_csv_matrix(dir / "out.csv", {"x", "1"}, values);
  EXPECT_EQ(get(dir / "out.csv"), "x,\"1\"\n0.1,-1e+300\n5e-324,12345678.9\n");
  const DataTable table = read_csv(dir / "out.csv");
  EXPECT_EQ(table.values, values);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"x", "1"}));
}

TEST(CsvWriter, MixedCells) {
  const TempDir dir;
  CsvWriter out(dir / "out.csv", {"row", "kl", "note"});
  out.integer(17).number(std::numeric_limits<double>::infinity()).text("a \"b\", c").end_row();
  EXPECT_FALSE(std::filesystem::exists(dir / "out.csv"));
  out.commit();
  EXPECT_EQ(get(dir / "out.csv"), "row,kl,note\n17,inf,\"a \"\"b\"\", c\"\n");
}

TEST(CsvWriter, RefusesRowsOfAnotherWidth) {
  const TempDir dir;
  CsvWriter out(dir / "out.csv", {"a", "b"});
  EXPECT_THROW(out.number(1).end_row(), InvalidArgument);
  EXPECT_THROW(out.commit(), InvalidArgument);
  EXPECT_THROW(CsvWriter(dir / "x.csv", {}), InvalidArgument);
}

TEST(CsvWriter, FullDisk) {
  EXPECT_EQ(message_of<StorageError>(
                [] { fixtures::write_csv_matrix("/dev/full", {"a"}, matrix({{1}})); }),
            "/dev/full: cannot write the file: No space left on device. Free some space or write "
            "somewhere else.");
}

}  // namespace
}  // namespace sfumato
