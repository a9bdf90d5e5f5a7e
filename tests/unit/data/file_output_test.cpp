#include "sfumato/data/file_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "sfumato/core/error.hpp"
#include "sfumato/data/file_input.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(const std::string& path) {
  return message_of<StorageError>([&] { write_file(path, "x"); });
}

TEST(OutputFile, AppearsOnCommit) {
  const TempDir dir;
  const std::string path = dir / "f";
  OutputFile file(path);
  file.write("abc");
  file.write("def");
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit();
  EXPECT_EQ(get(path), "abcdef");
  EXPECT_EQ(dir.files(), 1u);
}

TEST(OutputFile, WithoutCommitNothingChanges) {
  const TempDir dir;
  put(dir / "f", "old");
  {
    OutputFile file(dir / "f");
    file.write(std::string(1 << 20, 'x'));
  }
  EXPECT_EQ(get(dir / "f"), "old");
  EXPECT_EQ(dir.files(), 1u);
}

TEST(OutputFile, MayReplaceNothing) {
  const TempDir dir;
  OutputFile first(dir / "f", {false}), second(dir / "f", {false});
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_NE(message_of<StorageError>([&] { second.commit(); }).find("the file exists"),
            std::string::npos);
  EXPECT_THROW(write_file(dir / "f", "third", {false}), StorageError);
  EXPECT_EQ(get(dir / "f"), "first");
}

TEST(OutputFile, HasTheModeThatIsAskedFor) {
  const TempDir dir;
  write_file(dir / "f", "x", {true, kOwnersMode});
  struct stat status = {};
  ASSERT_EQ(::stat((dir / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST(OutputFile, RemovesWhatKilledWritersLeft) {
  const TempDir dir;
  const std::string stale = dir / "f.tmp-1-0", locked = dir / "f.tmp-2-0",
                    other = dir / "g.tmp-1-0";
  for (const std::string& path : {stale, locked, other}) {
    put(path, "half");
    const timeval old[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(::utimes(path.c_str(), old), 0);
  }
  put(dir / "f.tmp-3-0", "young");
  const int held = ::open(locked.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);  // as a writer that lives
  write_file(dir / "f", "whole");
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_TRUE(std::filesystem::exists(locked));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(dir / "f.tmp-3-0"));
  ::close(held);
}

TEST(OutputFile, LargeAndSmallPiecesKeepTheirOrder) {
  const TempDir dir;
  OutputFile file(dir / "f");
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string piece(static_cast<std::size_t>(i * i * 200 + 1),
                            static_cast<char>('a' + i % 26));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_EQ(get(dir / "f"), expected);
}

TEST(OutputFile, KeepsPermissionsAndFollowsLinks) {
  const TempDir dir;
  put(dir / "real", "old");
  ASSERT_EQ(::chmod((dir / "real").c_str(), 0640), 0);
  std::filesystem::create_symlink(dir / "real", dir / "link");
  write_file(dir / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(get(dir / "real"), "new");
  struct stat status = {};
  ASSERT_EQ(::stat((dir / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST(OutputFile, TwoWritersOfOnePathDoNotMix) {
  const TempDir dir;
  OutputFile a(dir / "f"), b(dir / "f");
  a.write("a");
  b.write("b");
  a.commit();
  EXPECT_EQ(get(dir / "f"), "a");
  b.commit();
  EXPECT_EQ(get(dir / "f"), "b");
}

TEST(OutputFile, FailuresNameThePathAndTheReason) {
  const TempDir dir;
  put(dir / "f", "x");
  EXPECT_EQ(refusal("/dev/full"),
            "/dev/full: cannot write the file: No space left on device. Free some space or write "
            "somewhere else.");
  EXPECT_EQ(refusal(dir / "none/f"), (dir / "none/f") +
                                         ": cannot create the file: No such file or directory. "
                                         "Create the directory first.");
  EXPECT_EQ(refusal(dir / "f/g"),
            (dir / "f/g") +
                ": cannot open the file: Not a directory. Part of the path is "
                "a file: choose another one.");
  EXPECT_EQ(refusal(dir.path()),
            dir.path() + ": cannot open the file: Is a directory. Name a file in it.");
  EXPECT_NE(refusal("").find("(no path): cannot open the file"), std::string::npos);
  EXPECT_NE(refusal(dir / std::string(300, 'x')).find("File name too long"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(OutputFile, ReadOnlyPlaces) {
  if (::geteuid() == 0) {
    // The superuser may write anywhere but in /proc.
    EXPECT_NE(refusal("/proc/sfumato-test").find("/proc/sfumato-test: cannot create the file"),
              std::string::npos);
    return;
  }
  const TempDir dir;
  put(dir / "f", "old");
  ASSERT_EQ(::chmod((dir / "f").c_str(), 0444), 0);
  EXPECT_NE(refusal(dir / "f").find("Permission denied. Choose a place where you can write."),
            std::string::npos);
  EXPECT_EQ(get(dir / "f"), "old");
}

TEST(OutputFile, WriteAfterCommitIsABug) {
  const TempDir dir;
  OutputFile file(dir / "f");
  file.commit();
  EXPECT_THROW(file.commit(), InternalError);
}

TEST(OutputFile, DevicesAreWrittenDirectly) { EXPECT_NO_THROW(write_file("/dev/null", "x")); }

TEST(ReadWholeFile, WholeFileAndLimit) {
  const TempDir dir;
  const std::string bytes(200000, 'z');
  put(dir / "f", bytes);
  EXPECT_EQ(read_file(dir / "f"), bytes);
  EXPECT_EQ(read_file(dir / "f", 200000), bytes);
  EXPECT_EQ(message_of<InvalidArgument>([&] { (void)read_file(dir / "f", 199999); }),
            (dir / "f") +
                ": is larger than the limit of 199999 bytes. Check that this is the right file.");
  put(dir / "empty", "");
  EXPECT_EQ(read_file(dir / "empty"), "");
  EXPECT_EQ(read_file("/dev/null"), "");
  EXPECT_THROW((void)read_file("/dev/zero", 1 << 20), InvalidArgument);  // a stream has a limit too
}

TEST(ReadWholeFile, Refusals) {
  const TempDir dir;
  EXPECT_THROW((void)read_file(""), InvalidArgument);
  EXPECT_THROW((void)read_file(std::string("a\0b", 3)), InvalidArgument);
  EXPECT_THROW((void)read_file(dir / "none"), InvalidArgument);
  EXPECT_THROW((void)read_file(dir.path()), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
