#include "sfumato/report/sentence.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/report/sentences.hpp"
#include "sfumato/report/typeset.hpp"

namespace sfumato {
namespace {

TEST(Text, EachFrontEndCallsAKeyInItsOwnWay) {
  const Text text = say("Give {}.", KeyName{"sample_rate"});
  EXPECT_EQ(text.plain(), "Give --sample-rate.");
  EXPECT_EQ(text.plain(KeyStyle::keyword), "Give sample_rate=.");
  EXPECT_EQ(text.plain(KeyStyle::code), "Give `sample_rate`.");
}

TEST(Text, NumbersAreRoundedTowardsTheirClaims) {
  const Text text = say("{} and {} at {}", ClaimedNumber{{0.123451, Claim::upper_bound}},
                        ClaimedNumber{{0.123459, Claim::lower_bound}}, 1e-5);
  EXPECT_EQ(text.plain(), "0.1235 and 0.1234 at 1e-5");
}

TEST(Text, OnlyMathematicsIsSet) {
  EXPECT_EQ(typeset_html(say("delta of {}", Maths{"delta"})), "delta of δ");
  EXPECT_EQ(typeset_html(Text("delta")), "δ");  // unmarked words have to be searched
  EXPECT_EQ(typeset_html(say("right {}", Percent{"75.1"})), "right 75.1\u00a0%");
}

TEST(Text, APatternHasAPlaceForEachPart) {
  EXPECT_THROW((void)say("{} and {}", "one"), InternalError);
  EXPECT_EQ(listed({"a", "b", "c"}).plain(), "a, b and c");
}

TEST(Statement, EvidenceFollowsAVerdict) {
  const Statement verdict{StatementKind::verdict, "it holds (3 of 3)", Outcome::good,
                          "Three agree."};
  EXPECT_EQ(verdict.plain(), "it holds (3 of 3). Three agree.");
}

TEST(Sentences, SharesAreRoundedTowardsTheirClaimsAndEndAtCertainty) {
  EXPECT_EQ(right_of({0.50001, Claim::upper_bound, ""}).plain(), "at most 75.1 %");
  EXPECT_EQ(right_of({0.5, Claim::exact, ""}).plain(), "75 %");
  EXPECT_EQ(right_of({1.5, Claim::upper_bound, ""}).plain(), "at most 100 %");
}

}  // namespace
}  // namespace sfumato
