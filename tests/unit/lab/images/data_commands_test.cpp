#include "lab/images/data_commands.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

class DataAnswers : public testing::Test {
 protected:
  DataAnswers() { std::filesystem::create_directory(dir / "fashion-mnist"); }
  [[nodiscard]] DataPlaces places() const { return {{dir.path()}}; }

  TempDir dir;
  Observer observer;
};

TEST_F(DataAnswers, ListCounts) {
  put(dir / "fashion-mnist/train-images-idx3-ubyte.gz", "");
  const DataListAnswer list = answer(DataListQuestion{places()}, observer);
  ASSERT_EQ(list.parts.size(), 4U);
  for (const DataInventory& part : list.parts) {
    const bool here = part.set->name == "fashion-mnist" && part.part == DataPart::train;
    EXPECT_EQ(part.files_found, here ? 1U : 0U);
    EXPECT_EQ(part.records_found, here ? 60'000U : 0U);
    EXPECT_EQ(part.directories.size(), here ? 1U : 0U);
  }
  const Document full = document_of(list, Detail::full);
  EXPECT_EQ(full.results().size(), 4U);
}

TEST_F(DataAnswers, CheckTellsWhatIsWrong) {
  put(dir / "fashion-mnist/train-labels-idx1-ubyte", "no labels");
  const DataCheckAnswer check = answer(DataCheckQuestion{{"fashion-mnist"}, places()}, observer);
  EXPECT_EQ(check.files.size(), 4U);
  EXPECT_EQ(check.count(FileState::wrong), 1U);
  EXPECT_EQ(check.count(FileState::not_found), 3U);
  EXPECT_EQ(check.count(FileState::right), 0U);
  EXPECT_FALSE(check.stopped);
}

TEST_F(DataAnswers, CheckOfNothing) {
  for (const std::vector<std::string>& sets :
       {std::vector<std::string>{}, std::vector<std::string>{"cifar10"},
        std::vector<std::string>{"cifar-10"}}) {
    EXPECT_THROW((void)answer(DataCheckQuestion{sets, places()}, observer), InvalidArgument);
  }
}

TEST_F(DataAnswers, GetSaysWhereOrHow) {
  put(dir / "fashion-mnist/train-images-idx3-ubyte.gz", "");
  const DataGetAnswer found = answer(DataGetQuestion{"fashion-mnist", places()}, observer);
  EXPECT_EQ(found.found_in, std::string(dir / "fashion-mnist"));
  EXPECT_TRUE(found.fetch_into.empty());
  const DataPlaces nowhere{{dir / "nowhere"}};
  EXPECT_THROW((void)answer(DataGetQuestion{"fashion-mnist", nowhere}, observer), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
