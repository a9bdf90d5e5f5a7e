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

TEST(Text, EachFrontEndShowsMoreInItsOwnWay) {
  const Text text = say("More: {}, {}, {}, {}.", More::all, More::page, More::json, More::table);
  EXPECT_EQ(text.plain(), "More: --full, --report FILE.html, --json, --out FILE.csv.");
  EXPECT_EQ(text.plain(KeyStyle::keyword),
            "More: .text(full=True), .save(\"page.html\"), .to_json(), .to_pandas().");
}

TEST(Text, NumbersAreRoundedTowardsTheirClaims) {
  const Text text = say("{} and {} at {}", ClaimedNumber{{0.123451, Claim::upper_bound}},
                        ClaimedNumber{{0.123459, Claim::lower_bound}}, 1e-5);
  EXPECT_EQ(text.plain(), "0.1235 and 0.1234 at 1e-5");
}

TEST(Text, OnlyMathematicsIsSet) {
  EXPECT_EQ(typeset_html(say("delta of {}", Maths{"delta"})), "delta of δ");
  EXPECT_EQ(typeset_html(Text("delta <= 1 of `x_1`")), "delta &lt;= 1 of `x_1`");
  EXPECT_EQ(typeset_html(Text().add(Unmarked{"delta"})),
            "δ");  // as JSON has it: has to be searched
  EXPECT_EQ(typeset_html(say("right {}", Percent{"75.1"})), "right 75.1\u00a0%");
}

TEST(Text, AFormulaStaysWithItsNumber) {
  const ClaimedNumber bound{{2.0, Claim::lower_bound}};
  EXPECT_EQ(typeset_html(say("{} {}", Maths{"eps >="}, bound)), "ε ≥\u00a02");
  EXPECT_EQ(typeset_html(say("{} = {} here", Maths{"delta"}, 1e-5)), "δ\u00a0=\u00a010⁻⁵ here");
  EXPECT_EQ(typeset_html(say("{} and {}", Maths{"delta"}, 3.0)), "δ and 3");
  EXPECT_EQ(typeset_html(say("between {} {}", 3.0, bound)), "between 3 2");
}

TEST(Text, NamesThatWereGivenAreNoMathematics) {
  const Text text = say("{}: {}", GivenName{"sigma_1"}, Maths{"sigma_1"});
  EXPECT_EQ(text.plain(), "sigma_1: sigma_1");
  EXPECT_EQ(typeset_html(text),
            "sigma_1: <math><msub><mi>σ</mi><mrow><mn>1</mn></mrow></msub></math>");
}

TEST(Text, CountsHaveAllTheirDigits) {
  EXPECT_EQ(say("{} of {}", 12345678, std::size_t{100000000}).plain(), "12345678 of 100000000");
  EXPECT_EQ(say("{}", 2.5e-7).plain(), "2.5e-7");
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

TEST(Text, SomeNumbersHaveFewDigits) {
  EXPECT_EQ(
      say("{}", ClaimedNumber{{0.12341, Claim::upper_bound}, NumberStyle::general, 3}).plain(),
      "0.124");
  EXPECT_EQ(
      say("{}", ClaimedNumber{{0.12349, Claim::lower_bound}, NumberStyle::general, 3}).plain(),
      "0.123");
}

TEST(Sentences, SharesAreRoundedTowardsTheirClaimsAndEndAtCertainty) {
  EXPECT_EQ(right_of({0.50001, Claim::upper_bound, ""}).plain(), "at most 75.1 %");
  EXPECT_EQ(right_of({0.5, Claim::exact, ""}).plain(), "75 %");
  EXPECT_EQ(right_of({1.5, Claim::upper_bound, ""}).plain(), "at most 100 %");
}

}  // namespace
}  // namespace sfumato
