#include "sfumato/math/formula_range.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"
#include "sfumato/math/interval_arithmetic.hpp"

namespace sfumato {
namespace {

Interval range_of(const std::string& formula) {
  FormulaRange algebra;
  return algebra.range(algebra.sum_of(Expression::parse(formula, {"x", "y"})),
                       {all_numbers(), all_numbers()});
}

TEST(FormulaRange, GlobalRangesOfWhatIsBoundedSomewhere) {
  EXPECT_LE(range_of("1 - 3 x^2").upper, 1.0 + 1e-15);
  EXPECT_EQ(range_of("1 - 3 x^2").lower, -kInf);
  const double least = range_of("x^4 - 2 x^3 + x").lower;
  EXPECT_LE(least, -0.25);
  EXPECT_NEAR(least, -0.25, 2e-3);
  EXPECT_NEAR(range_of("0.3 cos(y) + tanh(x)").upper, 1.3, 1e-12);
  EXPECT_NEAR(range_of("(0.3 sin(x))^2 / (1 + 0.3 sin(x))").upper, 0.09 / 0.7, 1e-9);
  EXPECT_NEAR(range_of("1 / (1 + exp(-x))").upper, 1.0, 1e-12);
  EXPECT_GE(range_of("1 / (1 + exp(-x))").lower, 0.0);
}

TEST(FormulaRange, SharedTermsCancel) {
  const Interval gap = range_of("(-x + 0.3 sin(y) + 0.05) - (0.3 sin(y) - x)");
  EXPECT_NEAR(gap.lower, 0.05, 1e-17);
  EXPECT_NEAR(gap.upper, 0.05, 1e-17);
  const Interval third = range_of("x/3 - x/3 + 1");  // a factor that no double is
  EXPECT_EQ(third.lower, 1.0);
  EXPECT_EQ(third.upper, 1.0);
  EXPECT_EQ(range_of("(x + y)^2 - x^2 - 2 x y - y^2").upper, 0.0);
}

TEST(FormulaRange, RefusesWhatIsTooLong) {
  EXPECT_THROW((void)range_of("(1 + x + y + sin(x) + cos(y) + tanh(x) + exp(x) + sin(y) + x y)^9"),
               NumericalFailure);
  EXPECT_EQ(range_of("log(x)").upper, kInf);  // no value for half of the x
}

TEST(FormulaRange, DerivativesOfSignAreNotLost) {
  const auto slope_of = [](const std::string& formula) {
    FormulaRange algebra;
    const Expression slope = Expression::parse(formula, {"x", "y"}).derivative(0).derivative(0);
    return algebra.range(algebra.sum_of(slope), {all_numbers(), all_numbers()});
  };
  EXPECT_EQ(slope_of("abs(x)").upper, kInf);
  EXPECT_EQ(slope_of("abs(x)").lower, 0.0);
  EXPECT_EQ(slope_of("0.5*x^2 - abs(x)").lower, -kInf);
  EXPECT_EQ(slope_of("0.5*x^2 - abs(x)").upper, 1.0);
  EXPECT_EQ(slope_of("abs(2 - y*x)").upper, kInf);
  const Expression kink = Expression::parse("abs(x)", {"x"}).derivative(0);
  EXPECT_TRUE(kink.may_jump());
  EXPECT_FALSE(kink.derivative(0).at(std::vector<double>{1.0}) != 0.0);
  EXPECT_FALSE(Expression::parse("abs(x)", {"x"}).may_jump());
}

TEST(Interval, ProductsThatVanishByTheirSizeKeepTheirSign) {
  const Interval product = just(-1e-200) * just(1e-200);
  EXPECT_LT(product.lower, 0.0);
  EXPECT_EQ(product.upper, 0.0);
  const Interval same = just(-1e-200) * just(-1e-200);
  EXPECT_EQ(same.lower, 0.0);
  EXPECT_GT(same.upper, 0.0);
}

}  // namespace
}  // namespace sfumato
