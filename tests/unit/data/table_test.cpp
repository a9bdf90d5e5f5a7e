#include "sfumato/data/table.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

TEST(TableFile, GzipIsToldByItsBytes) {
  const TempDir dir;
  const std::string path = dir / "odd_name.csv";
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzputs(file, "x,y\n1,2\n"), 8);
  gzclose(file);
  EXPECT_EQ(read_table_file(path), "x,y\n1,2\n");
  put(dir / "plain.csv.gz", "x,y\n1,2\n");
  EXPECT_EQ(read_table_file(dir / "plain.csv.gz"), "x,y\n1,2\n");
}

TEST(TableFile, OtherFormatsAreToldHowToConvert) {
  const TempDir dir;
  put(dir / "t.parquet", "PAR1...");
  const std::string parquet =
      message_of<InvalidArgument>([&] { (void)read_table_file(dir / "t.parquet"); });
  EXPECT_NE(parquet.find("is a Parquet file"), std::string::npos) << parquet;
  EXPECT_NE(parquet.find("to_csv"), std::string::npos) << parquet;
  put(dir / "t.xlsx", "PK\x03\x04...");
  const std::string sheet =
      message_of<InvalidArgument>([&] { (void)read_table_file(dir / "t.xlsx"); });
  EXPECT_NE(sheet.find("Save the sheet as CSV"), std::string::npos) << sheet;
}

TEST(TableFile, SuffixesBelowCompression) {
  EXPECT_EQ(table_suffix("a/b.CSV"), ".csv");
  EXPECT_EQ(table_suffix("a/b.csv.gz"), ".csv");
  EXPECT_EQ(table_suffix("b.npy"), ".npy");
  EXPECT_EQ(table_suffix("-"), ".csv");
  EXPECT_EQ(table_source("-"), "standard input");
}

}  // namespace
}  // namespace sfumato
