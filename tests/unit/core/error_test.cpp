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

TEST(Check, RefusesNaNEverywhere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(require_finite("x", nan), InvalidArgument);
  EXPECT_THROW(require_positive("x", nan), InvalidArgument);
  EXPECT_THROW(require_non_negative("x", nan), InvalidArgument);
  EXPECT_THROW(require_probability("x", nan), InvalidArgument);
}

TEST(Check, Edges) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(require_non_negative("x", inf), inf);
  EXPECT_EQ(require_non_negative("x", 0.0), 0.0);
  EXPECT_THROW(require_positive("x", inf), InvalidArgument);
  EXPECT_THROW(require_positive("x", 0.0), InvalidArgument);
  EXPECT_THROW(require_probability("x", 1.0 + 1e-15), InvalidArgument);
  EXPECT_NO_THROW(require_size("v", 3, 3));
  EXPECT_THROW(require_size("v", 3, 4), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
