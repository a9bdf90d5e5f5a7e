#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/data/zip.hpp"

namespace sfumato {
namespace {

TEST(ZipReader, HeadsAreBeginnings) {
  const std::string bytes = zip_bytes({{"a", "0123456789"}}, Compression::deflated);
  const ZipArchive archive(bytes, "z.npz", 100);
  EXPECT_EQ(archive.head(archive.records()[0], 4), "0123");
  EXPECT_EQ(archive.head(archive.records()[0], 400), "0123456789");
}

TEST(ZipReader, RefusesMoreThanItsLimitBeforeItInflates) {
  const std::string bytes = zip_bytes({{"a", std::string(100'000, '0')}}, Compression::deflated);
  EXPECT_THROW(ZipArchive(bytes, "z.npz", 99'999), InvalidArgument);
  EXPECT_NO_THROW(ZipArchive(bytes, "z.npz", 100'000));
}

TEST(ZipReader, NoticesAFlippedBitOfTheContent) {
  const std::string good = zip_bytes({{"a", "some content"}}, Compression::stored);
  std::string bad = good;
  bad[good.find("some")] ^= 1;
  const ZipArchive archive(bad, "z.npz", 100);
  EXPECT_THROW((void)archive.content(archive.records()[0]), InvalidArgument);
}

TEST(ZipReader, RefusesWhatIsNoArchiveAndNamesTwice) {
  EXPECT_THROW(ZipArchive("no archive", "z.npz", 100), InvalidArgument);
  const std::string twice = zip_bytes({{"a", "x"}, {"a", "y"}}, Compression::stored);
  EXPECT_THROW(ZipArchive(twice, "z.npz", 100), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
