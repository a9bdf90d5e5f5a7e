#include "sfumato/math/expression.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

namespace sfumato {
namespace {

double value(const std::string& formula, double x = 0.0, double y = 0.0) {
  return Expression::parse(formula, {"x", "y"}).at(std::array{x, y});
}

double slope(const std::string& formula, double x, double y = 0.0) {
  return Expression::parse(formula, {"x", "y"}).derivative(0).at(std::array{x, y});
}

std::string refusal(const std::string& formula,
                    const std::vector<std::string>& variables = {"x", "y"}) {
  try {
    (void)Expression::parse(formula, variables, Where::in("problem.toml"));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Expression, PrecedenceAndAssociativity) {
  EXPECT_EQ(value("1 + 2*3"), 7.0);
  EXPECT_EQ(value("8/4/2"), 1.0);
  EXPECT_EQ(value("5 - 3 - 1"), 1.0);
  EXPECT_EQ(value("2^3^2"), 512.0);
  EXPECT_EQ(value("-x^2", 3.0), -9.0);
  EXPECT_EQ(value("(-x)^2", 3.0), 9.0);
  EXPECT_EQ(value("2^-x", 1.0), 0.5);
  EXPECT_EQ(value("2*-x", 3.0), -6.0);
  EXPECT_EQ(value("--x - +x", 3.0), 0.0);
  EXPECT_EQ(value("1e-2 + .5"), 0.51);
  EXPECT_EQ(value("x^0", 0.0), 1.0);
  EXPECT_EQ(value("x^-3", 2.0), 0.125);
  EXPECT_EQ(value("x^20", 2.0), 1048576.0);
}

TEST(Expression, ImplicitProducts) {
  EXPECT_EQ(value("2x", 3.0), 6.0);
  EXPECT_EQ(value("0.1 x", 3.0), 0.1 * 3.0);
  EXPECT_EQ(value("-2 (y - x/2)", 3.0, 1.0), 1.0);
  EXPECT_EQ(value("2x^2 y", 3.0, 5.0), 90.0);
  EXPECT_EQ(value("x (x + 1)(y - 1)", 3.0, 5.0), 48.0);
  EXPECT_EQ(value("2e"), 2.0 * std::numbers::e);
  EXPECT_EQ(value("2exp(x)", 1.0), 2.0 * std::exp(1.0));
  EXPECT_EQ(value("3 sin(x) cos(y)", 1.0, 2.0), 3.0 * std::sin(1.0) * std::cos(2.0));
  EXPECT_EQ(value("x/2 + y/(3 x)", 1.0, 6.0), 2.5);
  EXPECT_EQ(value("x/2*y", 1.0, 6.0), 3.0);
}

TEST(Expression, FormulasOfTheGoldenFile) {
  const double x = 0.7;
  EXPECT_DOUBLE_EQ(value("x - x^3 + 0.2 + 0.1 x", x), x - x * x * x + 0.2 + 0.1 * x);
  EXPECT_DOUBLE_EQ(value("1+0.5/(1+x^2)", x), 1 + 0.5 / (1 + x * x));
  EXPECT_DOUBLE_EQ(value("x - x^3 + (y - x/2)", x, 0.3), x - x * x * x + (0.3 - x / 2));
  EXPECT_DOUBLE_EQ(value("-2 (y - x/2) + 0.1", x, 0.3), -2 * (0.3 - x / 2) + 0.1);
  EXPECT_EQ(value("0.64"), 0.64);
}

TEST(Expression, FunctionsAndConstants) {
  EXPECT_EQ(value("exp(x) + log(y)", 0.5, 2.0), std::exp(0.5) + std::log(2.0));
  EXPECT_EQ(value("sqrt(x) tanh(y) abs(-pi)", 0.5, 2.0),
            std::sqrt(0.5) * std::tanh(2.0) * std::numbers::pi);
  EXPECT_EQ(value("e^x", 0.3), std::exp(0.3));
  EXPECT_TRUE(std::isnan(value("log(x)", -1.0)));
  EXPECT_TRUE(std::isinf(value("1/x", 0.0)));
}

TEST(Expression, DerivativesOfEachOperation) {
  const double x = 0.7;
  const double y = 1.3;
  EXPECT_DOUBLE_EQ(slope("3", x), 0.0);
  EXPECT_DOUBLE_EQ(slope("x + y - 2x", x, y), -1.0);
  EXPECT_DOUBLE_EQ(slope("x^3 y", x, y), 3 * x * x * y);
  EXPECT_DOUBLE_EQ(slope("1/(1+x^2)", x), -2 * x / std::pow(1 + x * x, 2));
  EXPECT_DOUBLE_EQ(slope("x^y", x, y), y * std::pow(x, y - 1));
  EXPECT_DOUBLE_EQ(slope("y^x", x, y), std::pow(y, x) * std::log(y));
  EXPECT_DOUBLE_EQ(slope("x^x", x), std::pow(x, x) * (std::log(x) + 1));
  EXPECT_DOUBLE_EQ(slope("exp(2x)", x), 2 * std::exp(2 * x));
  EXPECT_DOUBLE_EQ(slope("log(3x)", x), 1 / x);
  EXPECT_DOUBLE_EQ(slope("sqrt(x)", x), 0.5 / std::sqrt(x));
  EXPECT_DOUBLE_EQ(slope("sin(x) - cos(x)", x), std::cos(x) + std::sin(x));
  EXPECT_DOUBLE_EQ(slope("tanh(x)", x), 1 - std::tanh(x) * std::tanh(x));
  EXPECT_DOUBLE_EQ(slope("abs(x)", -x), -1.0);
  EXPECT_DOUBLE_EQ(slope("abs(x)", 0.0), 0.0);
  EXPECT_DOUBLE_EQ(slope("-x^2", 0.0), 0.0);
  EXPECT_DOUBLE_EQ(slope("x^0.5", x), 0.5 / std::sqrt(x));
  EXPECT_THROW((void)Expression::parse("x", {"x"}).derivative(1), InvalidArgument);
}

TEST(Expression, KnowsItsVariables) {
  const Expression formula = Expression::parse("x^2 + t", {"x", "y", "t"});
  EXPECT_EQ(formula.variables(), 3U);
  EXPECT_TRUE(formula.depends_on(0));
  EXPECT_FALSE(formula.depends_on(1));
  EXPECT_TRUE(formula.depends_on(2));
  EXPECT_FALSE(formula.derivative(2).depends_on(0));
}

TEST(Expression, ManyPointsWithASharedTime) {
  const Expression formula = Expression::parse("x y + t", {"x", "y", "t"});
  Eigen::ArrayXXd at(1000, 2);
  for (Eigen::Index j = 0; j < 1000; ++j) at.row(j) << 0.1 * static_cast<double>(j), 3.0;
  Eigen::ArrayXd out(1000);
  formula.evaluate(at, std::array{0.5}, out);
  for (Eigen::Index j = 0; j < 1000; ++j) EXPECT_EQ(out(j), at(j, 0) * 3.0 + 0.5);
  // Some rows of a larger array, as simulations pass them.
  Eigen::ArrayXd part(10);
  formula.evaluate(at.middleRows(500, 10), std::array{0.5}, part);
  EXPECT_TRUE((part == out.segment(500, 10)).all());
  EXPECT_THROW(formula.evaluate(at, {}, out), InvalidArgument);
  EXPECT_THROW(formula.evaluate(at, std::array{0.5}, part), InvalidArgument);
  EXPECT_THROW((void)formula.at(std::array{1.0}), InvalidArgument);
}

TEST(Expression, RefusalsNameTheColumn) {
  EXPECT_EQ(refusal("x - "),
            "problem.toml: formula \"x - \", column 5: expected a number, a name or (, found the "
            "end. Correct the formula.");
  EXPECT_NE(refusal("x + * y").find("column 5: expected a number, a name or (, found *"),
            std::string::npos);
  EXPECT_NE(refusal("(x + 1").find("column 7: expected an operator or ), found the end"),
            std::string::npos);
  EXPECT_NE(refusal("x + 1)").find("column 6: expected an operator or the end, found )"),
            std::string::npos);
  EXPECT_NE(refusal("x 2").find("column 3: expected an operator or the end, found 2"),
            std::string::npos);
  EXPECT_NE(refusal("1.2.3").find("column 4"), std::string::npos);
  EXPECT_NE(refusal("sin x").find("column 5: expected ( after sin, found x"), std::string::npos);
  EXPECT_NE(
      refusal("2 sni(x)").find("column 3: expected a known name, found sni. Did you mean `sin`?"),
      std::string::npos);
  EXPECT_NE(refusal("x + zeta").find("Known names: `x`, `y`"), std::string::npos);
  EXPECT_NE(refusal("1/2 x").find("column 5: expected an operator"), std::string::npos);
  EXPECT_NE(refusal("1/2 x").find("(a/b)*c or a/(b*c)"), std::string::npos);
  EXPECT_NE(refusal("1e999").find("fits a double"), std::string::npos);
  EXPECT_NE(refusal("").find("column 1"), std::string::npos);
  EXPECT_NE(refusal("\xE2\x88\x92x y!")
                .find("column 1: expected a number, a name or (, found a character"),
            std::string::npos);
  EXPECT_NE(refusal("x\n\x01").find("formula \"x ?\", column 3"), std::string::npos);
}

TEST(Expression, BoundedNesting) {
  const std::string deep(100000, '(');
  EXPECT_NE(refusal(deep.substr(0, 19000)).find("at most 200 levels"), std::string::npos);
  EXPECT_NE(refusal(std::string(19000, '-') + "x").find("at most 200 levels"), std::string::npos);
  std::string tower = "x";
  for (int i = 0; i < 5000; ++i) tower += "^x";
  EXPECT_NE(refusal(tower).find("at most 200 levels"), std::string::npos);
  EXPECT_NE(refusal(deep).find("100000 characters"), std::string::npos);
  std::string product = "x";
  for (int i = 0; i < 4000; ++i) product += "*x";
  EXPECT_EQ(value(product, 1.0), 1.0);
  EXPECT_EQ(slope(product, 1.0), 4001.0);
}

TEST(Expression, AByteZeroIsNotTheEnd) {
  using namespace std::string_literals;
  EXPECT_NE(refusal("x\0"s).find("column 2: expected an operator or the end, found a byte 0"),
            std::string::npos);
  EXPECT_NE(refusal("x \0 + 1"s).find("found a byte 0"), std::string::npos);
  EXPECT_NE(refusal("(x\0)"s).find("found a byte 0"), std::string::npos);
}

TEST(Expression, RefusesBadVariables) {
  EXPECT_NE(refusal("x", {"x", "x"}).find("two variables are named \"x\""), std::string::npos);
  EXPECT_NE(refusal("x", {"2x"}).find("cannot name a variable"), std::string::npos);
  EXPECT_NE(refusal("x", {"exp"}).find("name of a function or constant"), std::string::npos);
  EXPECT_NE(refusal("x", {"e"}).find("name of a function or constant"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
