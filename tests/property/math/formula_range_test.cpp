// Enclosures of formulas against dense sampling: no value outside, and cancellation where two formulas share terms.
#include "sfumato/math/formula_range.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "sfumato/core/infinity.hpp"
#include "sfumato/math/interval_arithmetic.hpp"
#include "support/cases.hpp"
#include "support/random_pairs.hpp"

namespace sfumato {
namespace {

using testing::RandomPairs;

/// A random formula in x and y.
std::string formula(RandomPairs& random, int depth) {
  const auto number = [&] { return fmt::format("{:.3g}", random.uniform(-3.0, 3.0)); };
  const auto again = [&] { return formula(random, depth - 1); };
  if (depth == 0) {
    const std::array<std::string, 3> leaves = {"x", "y", "(" + number() + ")"};
    return leaves[static_cast<std::size_t>(random.integer(0, 2))];
  }
  switch (random.integer(0, 8)) {
    case 0: return "(" + again() + " + " + again() + ")";
    case 1: return "(" + again() + " - " + again() + ")";
    case 2: return "(" + again() + ") * (" + again() + ")";
    case 3: return "sin(" + again() + ")";
    case 4: return "tanh(" + again() + ")";
    case 5: return "(" + again() + ")^" + std::to_string(random.integer(2, 3));
    case 6: return "exp(-(" + again() + ")^2)";
    case 7: return "(" + again() + ") / (1 + (" + again() + ")^2)";
    default: return "cos(" + again() + ")";
  }
}

TEST(FormulaRangeProperty, NoValueOutside) {
  int tight = 0, all = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(1000); ++seed) {
    RandomPairs random(seed);
    const std::string text = formula(random, random.integer(1, 3));
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << text);
    const Expression expression = Expression::parse(text, {"x", "y"});
    const bool everywhere = random.integer(0, 1) == 0;
    const double x0 = random.uniform(-5.0, 5.0), y0 = random.uniform(-5.0, 5.0);
    const std::vector<Interval> box =
        everywhere ? std::vector<Interval>{all_numbers(), all_numbers()}
                   : std::vector<Interval>{{x0, x0 + random.uniform(0.0, 3.0)},
                                           {y0, y0 + random.uniform(0.0, 3.0)}};
    FormulaRange algebra;
    Interval range = all_numbers();
    try {
      range = algebra.range(algebra.sum_of(expression), box);
    } catch (const NumericalFailure&) {
      continue;  // too many terms
    }
    double least = kInf, most = -kInf;
    for (int i = 0; i < 400; ++i) {
      const auto at = [&](const Interval& side) {
        if (everywhere) return 3.0 * random.normal() * std::pow(10.0, random.integer(0, 2));
        return random.uniform(side.lower, side.upper);
      };
      const double x = at(box[0]), y = at(box[1]);
      const double value = expression.at(std::vector<double>{x, y});
      if (!std::isfinite(value)) continue;
      const double rounding = 1e-9 * (1.0 + std::abs(value));
      ASSERT_GE(value, range.lower - rounding);
      ASSERT_LE(value, range.upper + rounding);
      least = std::min(least, value), most = std::max(most, value);
    }
    ++all;
    tight += is_bounded(range) && width(range) < 3.0 * (most - least) + 0.1 ? 1 : 0;
  }
  EXPECT_GT(tight, all / 5);
}

TEST(FormulaRangeProperty, DifferencesKeepOnlyWhatDiffers) {
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    RandomPairs random(100'000 + seed);
    const std::string shared = formula(random, 2);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << shared);
    FormulaRange algebra;
    try {
      const auto first =
          algebra.sum_of(Expression::parse("0.25 + 1.7*(" + shared + ")", {"x", "y"}));
      const auto second =
          algebra.sum_of(Expression::parse("1.7*(" + shared + ") - 0.5", {"x", "y"}));
      const Interval gap =
          algebra.range(FormulaRange::add(first, second, -1.0), {all_numbers(), all_numbers()});
      EXPECT_NEAR(gap.lower, 0.75, 1e-14);
      EXPECT_NEAR(gap.upper, 0.75, 1e-14);
      EXPECT_LE(gap.lower, gap.upper);
    } catch (const NumericalFailure&) {
    }
  }
}

TEST(IntervalProperty, ResultsContainEveryValue) {
  for (std::uint64_t seed = 0; seed < testing::cases(3000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPairs random(200'000 + seed);
    const auto interval = [&] {
      const double centre = random.uniform(-10.0, 10.0);
      return Interval{centre, centre + random.log_uniform(1e-9, 20.0)};
    };
    const Interval a = interval(), b = interval();
    for (int i = 0; i < 20; ++i) {
      const double x = random.uniform(a.lower, a.upper), y = random.uniform(b.lower, b.upper);
      const auto contains = [](Interval range, double value) {
        return std::isnan(value) || (range.lower <= value && value <= range.upper);
      };
      EXPECT_TRUE(contains(a + b, x + y));
      EXPECT_TRUE(contains(a - b, x - y));
      EXPECT_TRUE(contains(a * b, x * y));
      EXPECT_TRUE(contains(inverse(a), 1.0 / x));
      EXPECT_TRUE(contains(exp(a), std::exp(x)));
      EXPECT_TRUE(contains(log(a), std::log(x)));
      EXPECT_TRUE(contains(sqrt(a), std::sqrt(x)));
      EXPECT_TRUE(contains(sin(a), std::sin(x)));
      EXPECT_TRUE(contains(cos(a), std::cos(x)));
      EXPECT_TRUE(contains(tanh(a), std::tanh(x)));
      EXPECT_TRUE(contains(abs(a), std::abs(x)));
      const int n = random.integer(-4, 5);
      EXPECT_TRUE(contains(power(a, n), std::pow(x, n)));
      EXPECT_TRUE(!(a.lower > 0.0) || contains(power(a, b), std::pow(x, y)));
    }
  }
}

}  // namespace
}  // namespace sfumato
