// Features and held-out records as keys of a study.
#include <gtest/gtest.h>

#include "lab/study/study_data.hpp"
#include "sfumato/core/error.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

class FeaturesOfStudies : public testing::Test {
 protected:
  void refused(const std::vector<std::string>& settings, const std::string& needle) {
    const std::string message =
        message_of<InvalidArgument>([&] { (void)load_sets(small.study(settings)); });
    EXPECT_NE(message.find(needle), std::string::npos) << message;
  }
  SmallStudy small;
};

TEST_F(FeaturesOfStudies, ReplaceWhatModelsSee) {
  const StudySets sets = load_sets(small.study({"data.features=random", "data.feature_count=7"}));
  EXPECT_EQ(sets.train.shape, (ImageShape{7, 1, 1}));
  ASSERT_TRUE(sets.test);
  EXPECT_EQ(sets.test->values, sets.train.values);  // the same table
  const Study study = small.study({"data.features=random", "data.feature_count=7"});
  EXPECT_EQ(network_of(study.model, sets.train).input().size(), 7U);
}

TEST_F(FeaturesOfStudies, ComeFromFiles) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += std::to_string(i) + ",1\n";
  put(small.dir / "f.csv", "a,b\n" + rows);
  const std::string file = "data.features='" + small.dir / "f.csv" + "'";
  EXPECT_FALSE(load_sets(small.study({file})).test);  // none were given
  const StudySets sets =
      load_sets(small.study({file, "data.test_features='" + small.dir / "f.csv" + "'"}));
  ASSERT_TRUE(sets.test);
  EXPECT_EQ(sets.train.shape, (ImageShape{2, 1, 1}));
}

TEST_F(FeaturesOfStudies, HeldOutRecordsAreTheLastAndNotInD) {
  const StudySets all = load_sets(small.study());
  const StudySets sets = load_sets(small.study({"data.validation=8"}));
  ASSERT_TRUE(sets.test);
  EXPECT_EQ(sets.train.count(), 22U);
  EXPECT_EQ(sets.test->count(), 8U);
  const auto& values = std::get<std::vector<float>>(all.train.values);
  const auto& first = std::get<std::vector<float>>(sets.train.values);
  const auto& last = std::get<std::vector<float>>(sets.test->values);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), values.begin()));
  EXPECT_TRUE(std::equal(last.begin(), last.end(), values.begin() + 22 * 4));
  EXPECT_EQ(sets.test->labels.front(), all.train.labels[22]);
  refused({"data.validation=11"}, "`records` = 20 exceeds the 19");
  refused({"data.validation=30"}, "Leave some to train on");
}

TEST_F(FeaturesOfStudies, ContradictionsAreRefused) {
  refused({"data.pooling=2"}, "means nothing for these features");
  refused({"data.features=random", "data.pooling=2"}, "means nothing for these features");
  refused({"data.features=scattering"}, "8 x 8");
  refused({"data.features=scatering"}, "scattering, random, or the path");
  refused({"data.features=random", "data.bandwidth=0"}, "bandwidth");
}

TEST_F(FeaturesOfStudies, TheCanonicalTextReadsBack) {
  const Study study =
      small.study({"data.features=random", "data.feature_count=7", "data.validation=3"});
  const std::string text = canonical_text(study);
  EXPECT_NE(text.find("feature_count = 7"), std::string::npos);
  EXPECT_EQ(text.find("pooling"), std::string::npos);
  const Study again = parse_study(text, "again");
  EXPECT_EQ(again.data.features, study.data.features);
  EXPECT_EQ(again.data.validation, 3U);
  // Studies without features have the text they had.
  EXPECT_EQ(canonical_text(small.study()).find("feature"), std::string::npos);
}

}  // namespace
}  // namespace sfumato::lab
