#include "sfumato/core/error.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

double rate_of(double rate) { return require_positive("x.rate", rate); }

TEST(Error, CheckNamesTheFunctionTheValueAndTheRemedy) {
  try {
    rate_of(-1.0);
    FAIL() << "a negative rate was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "rate_of: x.rate = -1 is not a finite positive number. Check the sign and the unit.");
  }
}

TEST(Error, PlaceInAFile) {
  EXPECT_EQ(Where::at("a.csv", 3, 5).text(), "a.csv:3:5");
  EXPECT_EQ(Where::at("a.csv", 3).text(), "a.csv:3");
  EXPECT_EQ(Where::at("a.csv", 0).text(), "a.csv");
}

TEST(Error, MessageIsOneLine) {
  const InvalidArgument error("two\nlines", "fix\tit?", Where::in("f"));
  EXPECT_STREQ(error.what(), "f: two lines. fix it?");
}

TEST(Error, KeysAreCalledAsTheFrontEndDoes) {
  const auto option = [](const std::string& key) { return key == "ridge" ? "--ridge" : ""; };
  const InvalidArgument error("`ridge` needs `noise`", "Give `noise`", Where::key("ridge"));
  EXPECT_STREQ(error.what(), "ridge: `ridge` needs `noise`. Give `noise`.");
  EXPECT_EQ(error.message(option), "--ridge: --ridge needs `noise`. Give `noise`.");
  const InvalidArgument open("a ` alone", "", Where::in("f"));
  EXPECT_EQ(open.message(option), "f: a ` alone.");
}

TEST(Error, AnOptionSaysItselfWhichKeyItStandsFor) {
  const InvalidArgument error({"risk.delta", " = ", "2 is not below 1"}, "Correct it",
                              Where::at("p.toml", 3));
  EXPECT_STREQ(error.what(), "p.toml:3: `risk.delta` = 2 is not below 1. Correct it.");
  const InvalidArgument moved(error, Where::option("--delta"));
  EXPECT_STREQ(moved.what(), "--delta: 2 is not below 1. Correct it.");
  EXPECT_EQ(moved.advice(), "`risk.delta` = 2 is not below 1. Correct it.");
  EXPECT_EQ(moved.problem().key, "risk.delta");
  const InvalidArgument both(error, "`eps` = -1 is negative");
  EXPECT_STREQ(both.what(),
               "p.toml:3: `risk.delta` = 2 is not below 1. Correct it. `eps` = -1 is negative.");
}

TEST(Error, RowsOfATableInMemoryCountFromZero) {
  EXPECT_EQ(Where::row("table", 6).text(), "table: row 6, from 0");
}

}  // namespace
}  // namespace sfumato
