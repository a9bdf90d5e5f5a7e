#include "sfumato/reproduce/run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sfumato/core/error.hpp"
#include "unit/data/temp_dir.hpp"

namespace sfumato {
namespace {

Document empty_document() { return Document("reproduce", "The paper again"); }

TEST(Reproduce, WritesEveryFileItNames) {
  const TempDir dir;
  const Document document = reproduce({dir / "new/deep", RunScale::quick, {}}, empty_document());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir / "new/deep")) {
    EXPECT_GT(entry.file_size(), 0u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 25u);  // 16 planes, 5 tables and 4 JSON
  const auto& last = std::get<Statement>(document.blocks().back());
  EXPECT_EQ(last.kind, StatementKind::summary);
  EXPECT_NE(last.text.find("25 files"), std::string::npos) << last.text;
  const auto summary = nlohmann::json::parse(get(dir / "new/deep/reproduce.json"));
  EXPECT_EQ(summary["figure3"]["scale"], "quick");
  EXPECT_EQ(summary["figure3"]["ours"]["statements"]["gain_grows_with_condition"]["verdict"],
            "depends");
}

TEST(Reproduce, RefusesAnUnknownPartWithASuggestion) {
  const TempDir dir;
  const std::string message = message_of<InvalidArgument>([&] {
    (void)reproduce({dir / "out", RunScale::quick, {"figure33"}}, empty_document());
  });
  EXPECT_NE(message.find("\"figure33\" is not a part"), std::string::npos) << message;
  EXPECT_NE(message.find("figure3`"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
}

TEST(Reproduce, RefusesADirectoryThatCannotBeMadeOrWrittenTo) {
  const TempDir dir;
  put(dir / "file", "");
  EXPECT_THROW((void)reproduce({dir / "file/x", RunScale::quick, {}}, empty_document()),
               StorageError);
  EXPECT_THROW((void)reproduce({dir / "file", RunScale::quick, {}}, empty_document()),
               StorageError);
  std::filesystem::create_directories(dir / "taken/reproduce.json");
  EXPECT_THROW((void)reproduce({dir / "taken", RunScale::quick, {}}, empty_document()),
               StorageError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir / "taken"), {}), 1)
      << "something was written before the refusal";
}

TEST(Reproduce, ReusesADirectoryAndLeavesOtherFilesAlone) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "real");
  std::filesystem::create_directory_symlink(dir / "real", dir / "link");
  put(dir / "real/notes.txt", "mine");
  put(dir / "real/figure3.json", "old");
  (void)reproduce({dir / "link", RunScale::quick, {"figure3"}}, empty_document());
  EXPECT_EQ(get(dir / "real/notes.txt"), "mine");
  EXPECT_EQ(nlohmann::json::parse(get(dir / "real/figure3.json"))["command"], "reproduce");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir / "real"), {}), 20);
}

}  // namespace
}  // namespace sfumato
