#include "sfumato/data/npy_header.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(NpyHeader, WhatIsWrittenIsRead) {
  const std::string bytes = npy_header_bytes("<f8", true, "(3, 4)");
  EXPECT_EQ(bytes.size() % 64, 0U);
  EXPECT_EQ(bytes.back(), '\n');
  const NpyHeader read = parse_npy_header(bytes, "a.npy");
  EXPECT_FALSE(read.big_endian);
  EXPECT_EQ(read.kind, 'f');
  EXPECT_EQ(read.width, 8U);
  EXPECT_TRUE(read.fortran_order);
  EXPECT_EQ(read.shape, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(read.data_offset, bytes.size());
}

TEST(NpyHeader, KnowsBytesOrderAndKind) {
  EXPECT_TRUE(parse_npy_header(npy_header_bytes(">i4", false, "(2,)"), "a").big_endian);
  EXPECT_EQ(parse_npy_header(npy_header_bytes("|b1", false, "()"), "a").kind, 'b');
  EXPECT_EQ(parse_npy_header(npy_header_bytes("<u2", false, "(0,)"), "a").width, 2U);
}

TEST(NpyHeader, RefusesWhatItCannotTrust) {
  const std::string good = npy_header_bytes("<f8", false, "(3,)");
  for (const std::string& bad :
       {good.substr(0, 20), "x" + good, npy_header_bytes("|O", false, "(3,)"),
        npy_header_bytes("<f8", false, "(-3,)"), npy_header_bytes("<f3", false, "(3,)")}) {
    EXPECT_THROW((void)parse_npy_header(bad, "a.npy"), InvalidArgument);
  }
}

}  // namespace
}  // namespace sfumato
