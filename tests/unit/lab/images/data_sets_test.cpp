#include "lab/images/data_sets.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "sfumato/data/checksum.hpp"
#include "support/compressed.hpp"
#include "support/temp_dir.hpp"

// The real sets are read by tests/e2e/data_test.py, where they are present.

namespace sfumato::lab {
namespace {

/// A variable of the environment, put back at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(DataSets, KnownOnes) {
  ASSERT_EQ(known_data_sets().size(), 2u);
  EXPECT_EQ(known_data_set("cifar10").files.size(), 6u);
  EXPECT_EQ(known_data_set("fashion-mnist").files.size(), 4u);
  EXPECT_EQ(message_of<InvalidArgument>([] { (void)known_data_set("cifar-10", Where::in("s")); }),
            "s: the data set \"cifar-10\" is unknown. Did you mean `cifar10`?");
  for (const KnownDataSet& set : known_data_sets()) {
    for (const DataFile& file : set.files) EXPECT_EQ(file.sha256.size(), 64u);
  }
}

TEST(DataSets, PlacesInTheirOrder) {
  const Variable data("SFUMATO_DATA", "/d"), cache("XDG_CACHE_HOME", "/c"), home("HOME", "/h");
  EXPECT_EQ(data_places().directories,
            (std::vector<std::string>{"/d", "/c/sfumato", "/usr/share/datasets"}));
  for (const char* relative : {"cache", ".", "../c"}) {
    const Variable elsewhere("XDG_CACHE_HOME", relative);
    EXPECT_EQ(user_cache(), "/h/.cache/sfumato");
  }
  const Variable no_cache("XDG_CACHE_HOME", ""), no_data("SFUMATO_DATA", nullptr);
  EXPECT_EQ(data_places().directories,
            (std::vector<std::string>{"/h/.cache/sfumato", "/usr/share/datasets"}));
  const Variable no_home("HOME", nullptr);
  EXPECT_EQ(user_cache(), std::nullopt);
  EXPECT_EQ(data_places().directories, std::vector<std::string>{"/usr/share/datasets"});
}

TEST(DataSets, MissingFilesAreExplained) {
  EXPECT_EQ(
      message_of<InvalidArgument>([] {
        (void)load_data_set("fashion-mnist", DataPart::train, 0, {{"/x", "/y"}});
      }),
      "fashion-mnist: train-images-idx3-ubyte is not found; tried "
      "/x/fashion-mnist/train-images-idx3-ubyte, /x/fashion-mnist/train-images-idx3-ubyte.gz, "
      "/y/fashion-mnist/train-images-idx3-ubyte, /y/fashion-mnist/train-images-idx3-ubyte.gz. "
      "Run: apt-get install dataset-fashion-mnist.");
  const std::string message = message_of<InvalidArgument>(
      [] { (void)load_data_set("cifar10", DataPart::test, 1, {{"/x"}}); });
  EXPECT_NE(
      message.find("/x/cifar-10-batches-bin/test_batch.bin.xz. Run: sfumato data get cifar10"),
      std::string::npos)
      << message;
  EXPECT_THROW((void)load_data_set("mnist", DataPart::train, 0, {{}}), InvalidArgument);
}

TEST(DataSets, EarlierPlacesAndPlainFilesWin) {
  const TempDir dir;
  const KnownDataSet& set = known_data_set("cifar10");
  const DataPlaces places{{dir / "a", dir / "b"}};
  EXPECT_EQ(find_data_file(set, set.files[0], places), std::nullopt);
  const std::string file = "/cifar-10-batches-bin/data_batch_1.bin";
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(dir / name + "/cifar-10-batches-bin");
  }
  put(dir / "b" + file, "x");
  EXPECT_EQ(find_data_file(set, set.files[0], places), dir / "b" + file);
  put(dir / "a" + file + ".xz", "x");
  EXPECT_EQ(find_data_file(set, set.files[0], places), dir / "a" + file + ".xz");
  put(dir / "a" + file, "x");
  EXPECT_EQ(find_data_file(set, set.files[0], places), dir / "a" + file);
}

TEST(DataSets, ContentIsVerified) {
  const TempDir dir;
  const std::string content = "some content", digest = sha256(content);
  const DataFile file{"f", DataPart::train, 0, content.size(), digest, ""};
  for (const std::string& bytes : {content, gzip(content), xz(content)}) {
    put(dir / "f", bytes);
    EXPECT_EQ(read_verified(dir / "f", file), content);
  }
  const auto refusal = [&](const std::string& bytes) {
    put(dir / "f", bytes);
    return message_of<InvalidArgument>([&] { (void)read_verified(dir / "f", file); });
  };
  EXPECT_NE(refusal("Some content").find("/f: fails its checksum"), std::string::npos);
  EXPECT_NE(refusal("some conten").find("/f: has the wrong size: 11 bytes"), std::string::npos);
  EXPECT_NE(refusal("some content!").find("more than 12 bytes"), std::string::npos);
  EXPECT_NE(refusal(gzip("some content!")).find("more than 12 bytes"), std::string::npos);
  EXPECT_NE(refusal(xz(content).substr(0, 40)).find("damaged xz data"), std::string::npos);
  EXPECT_NE(refusal(std::string(10000, 'x')).find("larger than the limit"), std::string::npos);
  EXPECT_THROW((void)read_verified(dir / "none", file), InvalidArgument);
}

TEST(DataSets, AWrongFileIsNamedBeforeItIsUsed) {
  const TempDir dir;
  std::filesystem::create_directories(dir / "cifar-10-batches-bin");
  const std::string path = dir / "cifar-10-batches-bin/test_batch.bin";
  put(path, std::string(30'730'000, '\0'));
  const std::string message = message_of<InvalidArgument>(
      [&] { (void)load_data_set("cifar10", DataPart::test, 0, {{dir.path()}}); });
  EXPECT_TRUE(message.starts_with(path + ": fails its checksum")) << message;
}

}  // namespace
}  // namespace sfumato::lab
