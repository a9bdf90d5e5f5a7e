#include "sfumato/data/file_input.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

std::string refusal(const std::string& path, std::uint64_t limit = kLargestFile) {
  return message_of<InvalidArgument>([&] { (void)read_file(path, limit); });
}

TEST(ReadFile, GivesEveryByte) {
  const TempDir dir;
  for (const std::size_t size : {0U, 1U, (1U << 18U) - 1, 1U << 18U, (1U << 18U) + 1, 3U << 20U}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13U);
    put(dir / "f", bytes);
    EXPECT_TRUE(read_file(dir / "f") == bytes) << size;
    EXPECT_TRUE(size == 0 || refusal(dir / "f", size - 1).find("limit") != std::string::npos);
  }
}

TEST(ReadFile, ReadsPipesToTheirEndOrTheLimit) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const auto write_to_pipe = [&](std::size_t size) {
    return std::jthread([path = dir / "pipe", size] {
      std::ofstream(path, std::ios::binary) << std::string(size, 'x');
    });
  };
  {
    const auto writer = write_to_pipe(700'000);
    EXPECT_EQ(read_file(dir / "pipe"), std::string(700'000, 'x'));
  }
  const auto writer = write_to_pipe(1001);
  EXPECT_EQ(
      refusal(dir / "pipe", 1000),
      (dir / "pipe") +
          ": is larger than the limit of 1000 bytes for pipes and devices. Write it to a file and "
          "name that.");
}

TEST(ReadFile, NoticesThatTheFileChanges) {
  const TempDir dir;
  put(dir / "f", std::string(1 << 20, 'x'));
  // Written to all the time, it changes while it is read.
  std::jthread writer([path = dir / "f"](const std::stop_token& stop) {
    std::ofstream out(path, std::ios::binary | std::ios::app);
    while (!stop.stop_requested()) out << 'y' << std::flush;
  });
  std::string said;
  for (int attempt = 0; attempt < 1000 && said.find("changed") == std::string::npos; ++attempt) {
    said = refusal(dir / "f");
  }
  EXPECT_NE(said.find("was changed while it was read"), std::string::npos) << said;
}

}  // namespace
}  // namespace sfumato
