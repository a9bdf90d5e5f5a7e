#include "sfumato/data/csv_records.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

std::vector<std::string> fields_of(const CsvRecords& records) {
  std::vector<std::string> fields;
  for (const CsvField& field : records.fields()) fields.emplace_back(field.text);
  return fields;
}

TEST(CsvRecords, FieldsAreTrimmedUnlessQuoted) {
  CsvRecords records(" a ,\" b\", c\"d \r\n\"x\"\"y\",,\"1\n2\"\n", "t.csv", ',');
  ASSERT_TRUE(records.next());
  EXPECT_EQ(fields_of(records), (std::vector<std::string>{"a", " b", "c\"d"}));
  EXPECT_TRUE(records.fields()[1].quoted);
  EXPECT_EQ(records.line(), 1U);
  ASSERT_TRUE(records.next());
  EXPECT_EQ(fields_of(records), (std::vector<std::string>{"x\"y", "", "1\n2"}));
  EXPECT_EQ(records.line(), 2U);
  EXPECT_FALSE(records.next());
}

TEST(CsvRecords, ABlankLineIsARecordOfOneEmptyField) {
  CsvRecords records("a;b\n\nc;d", "t.csv", ';');
  ASSERT_TRUE(records.next());
  EXPECT_FALSE(records.blank());
  ASSERT_TRUE(records.next());
  EXPECT_TRUE(records.blank());
  ASSERT_TRUE(records.next());
  EXPECT_EQ(records.line(), 3U);
  EXPECT_EQ(number_of({"2,5", false}, ',').value, 2.5);
}

TEST(CsvRecords, BrokenQuotesAreRefused) {
  for (const char* text : {"\"a", "\"a\"b,c\n"}) {
    CsvRecords records(text, "t.csv", ',');
    EXPECT_THROW((void)records.next(), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace sfumato
