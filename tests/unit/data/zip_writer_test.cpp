#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/data/zip.hpp"

namespace sfumato {
namespace {

const std::vector<ZipEntry> kEntries = {{"a.npy", "first"}, {"b.npy", std::string(5000, 'x')}};

TEST(ZipWriter, EntriesComeBackInTheirOrder) {
  for (const Compression compression : {Compression::stored, Compression::deflated}) {
    const std::string bytes = zip_bytes(kEntries, compression);
    const ZipArchive archive(bytes, "z.npz", 1 << 20);
    ASSERT_EQ(archive.records().size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(archive.records()[i].name, kEntries[i].name);
      EXPECT_EQ(archive.content(archive.records()[i]), kEntries[i].bytes);
    }
  }
}

TEST(ZipWriter, HasNoClockAndPacksWhatRepeats) {
  EXPECT_EQ(zip_bytes(kEntries, Compression::deflated), zip_bytes(kEntries, Compression::deflated));
  EXPECT_LT(zip_bytes(kEntries, Compression::deflated).size(), 1000U);
  EXPECT_GT(zip_bytes(kEntries, Compression::stored).size(), 5000U);
}

}  // namespace
}  // namespace sfumato
