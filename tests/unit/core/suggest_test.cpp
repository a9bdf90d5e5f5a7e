#include "sfumato/core/suggest.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

const std::vector<std::string> kKeys = {"times", "epsilons", "Sigma", "start", "x_star", "A", "B"};

TEST(Suggest, OneSlipIsNear) {
  EXPECT_EQ(nearest("time", kKeys), "times");    // left out
  EXPECT_EQ(nearest("timess", kKeys), "times");  // doubled
  EXPECT_EQ(nearest("sgima", kKeys), "Sigma");   // swapped neighbours, and case
  EXPECT_EQ(nearest("tines", kKeys), "times");   // exchanged
  EXPECT_EQ(nearest("SIGMA", kKeys), "Sigma");   // case only
  EXPECT_EQ(nearest("x-star", kKeys), "x_star");
}

TEST(Suggest, SwapCountsOnce) {
  // Two edits without transposition would exceed a third of six letters only beyond 2; five letters
  // allow one edit, so this passes only if a swap is one edit.
  EXPECT_EQ(nearest("satrt", kKeys), "start");
}

TEST(Suggest, OnlyExtensionOfAnAbbreviation) {
  EXPECT_EQ(nearest("eps", kKeys), "epsilons");
  EXPECT_EQ(nearest("noise", {"noise_variance", "noise_multiplier"}), std::nullopt);
}

TEST(Suggest, FarIsNothing) {
  EXPECT_EQ(nearest("learning_rate", kKeys), std::nullopt);
  EXPECT_EQ(nearest("C", kKeys), std::nullopt);  // every letter would change
  EXPECT_EQ(nearest("", kKeys), std::nullopt);
  EXPECT_EQ(nearest(std::string(1000, 'a'), kKeys), std::nullopt);
}

TEST(Suggest, NearestBeatsEarlier) {
  EXPECT_EQ(nearest("delta", {"deltas", "delta"}), "delta");
  EXPECT_EQ(nearest("delt", {"dealt", "delta"}), "dealt");  // equally near: the first
}

TEST(Suggest, RemedySentence) {
  EXPECT_EQ(suggestion("tims", kKeys), "Did you mean `times`?");
  EXPECT_EQ(suggestion("zzzz", {"a", "b"}), "Known keys: `a`, `b`");
  EXPECT_EQ(suggestion("zzzz", {"age"}, "columns"), "Known columns: `age`");
  EXPECT_EQ(suggestion("zzzz", {}), "There are no known keys");
  const std::vector<std::string> many(20, "key");
  EXPECT_TRUE(suggestion("zzzz", many).ends_with("`key` and 8 more"));
}

}  // namespace
}  // namespace sfumato
