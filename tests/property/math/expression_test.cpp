#include "sfumato/math/expression.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

namespace sfumato {
namespace {

class RandomFormula {
 public:
  explicit RandomFormula(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  /// Defined and smooth everywhere: logarithms and roots get positive arguments.
  std::string text(int depth) {
    if (depth == 0) {
      switch (integer(0, 3)) {
        case 0: return "x";
        case 1: return "y";
        case 2: return "t";
        default: return fmt::format("{:.3f}", uniform(0.1, 2.0));
      }
    }
    const std::string a = text(depth - 1);
    switch (integer(0, 13)) {
      case 0: return fmt::format("({} + {})", a, text(depth - 1));
      case 1: return fmt::format("({} - {})", a, text(depth - 1));
      case 2: return fmt::format("{} * {}", a, text(depth - 1));
      case 3: return fmt::format("2 ({}) ({})", a, text(depth - 1));
      case 4: return fmt::format("({})/(1 + ({})^2)", a, text(depth - 1));
      case 5: return fmt::format("(-({}))", a);
      case 6: return fmt::format("sin({})", a);
      case 7: return fmt::format("cos({})", a);
      case 8: return fmt::format("tanh({})", a);
      case 9: return fmt::format("exp(sin({}))", a);
      case 10: return fmt::format("log(1 + ({})^2)", a);
      case 11: return fmt::format("sqrt(1 + ({})^2)", a);
      case 12: return fmt::format("(2 + sin({}))^({})", a, text(0));
      default: return fmt::format("(sin({}))^{}", a, integer(2, 5));
    }
  }

 private:
  std::mt19937 engine_;
};

TEST(Expression, DerivativesMatchFiniteDifferences) {
  int compared = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    RandomFormula random(seed);
    const std::string text = random.text(random.integer(1, 4));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    const Expression formula = Expression::parse(text, {"x", "y", "t"});
    const std::array at{random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(0, 2)};
    const auto variable = static_cast<std::size_t>(random.integer(0, 2));
    const auto moved = [&](double step) {
      std::array point = at;
      point[variable] += step;
      return formula.at(point);
    };
    const auto central = [&](double h) { return (moved(h) - moved(-h)) / (2 * h); };
    const double h = 1e-3;
    const double coarse = (4 * central(h) - central(2 * h)) / 3;
    const double fine = (4 * central(h / 2) - central(h)) / 3;
    const double scale = 1 + std::abs(fine) + std::abs(formula.at(at));
    if (std::abs(coarse - fine) > 1e-7 * scale) continue;  // too wild for differences
    ++compared;
    EXPECT_NEAR(formula.derivative(variable).at(at), fine, 1e-6 * scale);
  }
  EXPECT_GT(compared, 1300);
}

TEST(Expression, ManyPointsEqualOnePointBitForBit) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomFormula random(seed + 10000);
    const std::string text = random.text(random.integer(1, 5));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed + 10000, text));
    Expression formula = Expression::parse(text, {"x", "y", "t"});
    if (seed % 2 == 1) formula = formula.derivative(seed % 3);
    const Eigen::Index n = random.integer(1, 700);
    Eigen::ArrayXXd at(n, 2);
    for (double& entry : at.reshaped()) entry = random.uniform(-2, 2);
    const double time = random.uniform(0, 2);
    Eigen::ArrayXd out(n);
    formula.evaluate(at, std::array{time}, out);
    for (Eigen::Index j = 0; j < n; ++j) {
      ASSERT_EQ(out(j), formula.at(std::array{at(j, 0), at(j, 1), time})) << "row " << j;
    }
  }
}

TEST(Expression, RandomTextIsParsedOrRefused) {
  const std::string alphabet = "xyt()+-*/^ .0123456789episnlogqrtabch";
  int accepted = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    RandomFormula random(seed);
    std::string text;
    const int length = random.integer(1, 12);
    for (int i = 0; i < length; ++i) {
      text += alphabet[static_cast<std::size_t>(
          random.integer(0, static_cast<int>(alphabet.size()) - 1))];
    }
    try {
      const Expression formula = Expression::parse(text, {"x", "y", "t"});
      (void)formula.derivative(0).at(std::array{0.1, 0.2, 0.3});
      ++accepted;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("column"), std::string::npos) << seed;
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace sfumato
