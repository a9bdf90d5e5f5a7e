#include "sfumato/data/files_as_found.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <string>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_output.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

TEST(FilesAsFound, FilesThatChangeComeOrGoAreNamed) {
  const TempDir directory;
  const std::string a = directory / "a", b = directory / "b";
  write_file(a, "one");
  const FilesAsFound found({a, "", b});
  EXPECT_NO_THROW((void)found.still_so());
  write_file(a, "two");
  EXPECT_THROW((void)found.still_so(), StorageError);
  write_file(a, "one");
  EXPECT_NO_THROW((void)found.still_so());
  write_file(b, "");  // a digest of its own: it is there
  EXPECT_THROW((void)found.still_so(), StorageError);
  std::filesystem::remove(b);
  std::filesystem::remove(a);
  EXPECT_THROW((void)found.still_so(), StorageError);
}

TEST(FilesAsFound, WhoWritesThereIsWaitedFor) {
  const TempDir directory;
  const std::string a = directory / "a";
  const FilesAsFound found({a});
  const int other = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  std::future<bool> other_wrote = std::async(std::launch::async, [&] {
    ::usleep(100'000);
    write_file(a, "theirs");
    ::close(other);
    return true;
  });
  EXPECT_THROW((void)found.still_so(), StorageError);
  EXPECT_TRUE(other_wrote.get());
}

TEST(FilesAsFound, LocksLastAsLongAsTheyLive) {
  const TempDir directory;
  const int other = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY);
  {
    const DirectoryLocks locks = FilesAsFound({directory / "a", directory / "b"}).still_so();
    EXPECT_NE(::flock(other, LOCK_EX | LOCK_NB), 0);
  }
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  ::close(other);
}

}  // namespace
}  // namespace sfumato
