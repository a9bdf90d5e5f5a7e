#include "reproduce/run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::apps {
namespace {

const std::vector<std::string> kFigures = {"figure1", "figure2", "figure3"};

Document run(const std::string& directory, const std::vector<std::string>& only = kFigures) {
  Observer observer;
  return reproduce({directory, RunScale::quick, only}, Document("reproduce", "The paper again"),
                   observer)
      .document;
}

TEST(Reproduce, WritesEveryFileItNames) {
  const TempDir dir;
  const Document document = run(dir / "new/deep");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir / "new/deep")) {
    EXPECT_GT(entry.file_size(), 0u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 26u);  // 16 planes, 5 tables, 4 JSON and the page
  const auto& last = std::get<Statement>(document.blocks().back());
  EXPECT_EQ(last.kind, StatementKind::summary);
  EXPECT_NE(last.plain().find("26 files"), std::string::npos) << last.plain();
  const auto summary = nlohmann::json::parse(get(dir / "new/deep/report.json"));
  EXPECT_EQ(summary["figure3"]["scale"], "quick");
  EXPECT_EQ(summary["figure3"]["ours"]["statements"]["gain_grows_with_condition"]["verdict"],
            "depends");
}

TEST(Reproduce, RefusesAnUnknownPartWithASuggestion) {
  const TempDir dir;
  const std::string message =
      message_of<InvalidArgument>([&] { (void)run(dir / "out", {"figure33"}); });
  EXPECT_NE(message.find("\"figure33\" is not a part"), std::string::npos) << message;
  EXPECT_NE(message.find("figure3`"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
}

TEST(Reproduce, RefusesADirectoryThatCannotBeMadeOrWrittenTo) {
  const TempDir dir;
  put(dir / "file", "");
  EXPECT_THROW((void)run(dir / "file/x"), StorageError);
  EXPECT_THROW((void)run(dir / "file"), StorageError);
  std::filesystem::create_directories(dir / "taken/report.json");
  EXPECT_THROW((void)run(dir / "taken"), StorageError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir / "taken"), {}), 1)
      << "something was written before the refusal";
}

TEST(Reproduce, ReusesADirectoryAndLeavesOtherFilesAlone) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "real");
  std::filesystem::create_directory_symlink(dir / "real", dir / "link");
  put(dir / "real/notes.txt", "mine");
  put(dir / "real/figure3.json", "old");
  (void)run(dir / "link", {"figure3"});
  EXPECT_EQ(get(dir / "real/notes.txt"), "mine");
  EXPECT_EQ(nlohmann::json::parse(get(dir / "real/figure3.json"))["command"], "reproduce");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir / "real"), {}), 21);
}

TEST(Reproduce, RefusesAPartWhoseDataAreMissingIfItIsAskedFor) {
  const TempDir dir;
  Observer observer;
  ReproduceRequest request{dir / "out", RunScale::quick, {"table2.s3"}};
  request.places = DataPlaces{{dir / "nothing"}};
  const std::string message = message_of<InvalidArgument>(
      [&] { (void)reproduce(request, Document("reproduce", "x"), observer); });
  EXPECT_NE(message.find("table2.s3 needs the data set cifar10"), std::string::npos) << message;
  EXPECT_NE(message.find("sfumato data get"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
}

/// Asks to stop at once.
class Stopping final : public Observer {
 public:
  [[nodiscard]] bool stop_requested() const override { return true; }
};

TEST(Reproduce, SaysWhereItWasStopped) {
  const TempDir dir;
  Stopping observer;
  const Reproduction result =
      reproduce({dir / "out", RunScale::quick, kFigures}, Document("reproduce", "x"), observer);
  EXPECT_EQ(result.stopped_in, "figure1");
  EXPECT_FALSE(std::filesystem::exists(dir / "out/report.json"));
}

}  // namespace
}  // namespace sfumato::apps
