#include "sfumato/report/number.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sfumato/core/error.hpp"
#include "sfumato/core/infinity.hpp"

namespace sfumato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(FormatNumber, FourDigitsAndNotation) {
  EXPECT_EQ(format_number(0.5), "0.5000");
  EXPECT_EQ(format_number(3.14159265), "3.142");
  EXPECT_EQ(format_number(-3.14159265), "-3.142");
  EXPECT_EQ(format_number(0.000123456), "0.0001235");
  EXPECT_EQ(format_number(0.0000123456), "1.235e-5");
  EXPECT_EQ(format_number(1234567.8), "1.235e6");
  EXPECT_EQ(format_number(6.02214076e23), "6.022e23");
  EXPECT_EQ(format_number(0.3, Rounding::nearest, 2), "0.30");
}

TEST(FormatNumber, IntegerPartIsShownWhole) {
  EXPECT_EQ(format_number(12345.67), "12346");
  EXPECT_EQ(format_number(123456.7), "123457");
  EXPECT_EQ(format_number(1234.5), "1234");  // ties to even
  EXPECT_EQ(format_number(1234.5, Rounding::up), "1235");
}

TEST(FormatNumber, ExactValuesHaveNoDecimals) {
  EXPECT_EQ(format_number(0.0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(1.0), "1");
  EXPECT_EQ(format_number(-250000.0), "-250000");
  EXPECT_EQ(format_number(123456789.0), "123456789");
  EXPECT_EQ(format_number(1e9), "1.000e9");
}

TEST(FormatNumber, NonFinite) {
  EXPECT_EQ(format_number(kInf, Rounding::up), "inf");
  EXPECT_EQ(format_number(-kInf, Rounding::down), "-inf");
  EXPECT_THROW((void)format_number(kNan), InternalError);
}

TEST(FormatNumber, RoundsTowardsTheClaim) {
  EXPECT_EQ(format_number(0.12341, Rounding::up), "0.1235");
  EXPECT_EQ(format_number(0.12349, Rounding::down), "0.1234");
  EXPECT_EQ(format_number(-0.12341, Rounding::up), "-0.1234");
  EXPECT_EQ(format_number(-0.12341, Rounding::down), "-0.1235");
  EXPECT_EQ(format_number(0.1, Rounding::up), "0.1000");
  EXPECT_EQ(format_number(0.1, Rounding::down), "0.1000");
}

TEST(FormatNumber, Carries) {
  EXPECT_EQ(format_number(9.99951), "10.00");
  EXPECT_EQ(format_number(9.9991, Rounding::up), "10.00");
  EXPECT_EQ(format_number(9.99999, Rounding::down), "9.999");
  EXPECT_EQ(format_number(0.99999, Rounding::down), "0.9999");
  EXPECT_EQ(format_number(9.9999e-5, Rounding::up), "0.0001000");
  EXPECT_EQ(format_number(1.00001e-4, Rounding::down), "0.0001000");
  EXPECT_EQ(format_number(999999.5, Rounding::up), "1.000e6");
  EXPECT_EQ(format_number(9999.5, Rounding::up), "10000");
  EXPECT_EQ(format_number(99999.5, Rounding::down), "99999");
}

TEST(FormatNumber, EndsOfTheRange) {
  EXPECT_EQ(format_number(std::numeric_limits<double>::denorm_min()), "4.941e-324");
  // 4.9406...e-324 and 9.8813...e-324: every decimal nearby reads back as one of the two.
  EXPECT_EQ(format_number(0x1p-1074, Rounding::up), "4.941e-324");
  EXPECT_EQ(format_number(0x1p-1074, Rounding::down), "4.940e-324");
  EXPECT_EQ(format_number(0x1p-1073, Rounding::up), "9.882e-324");
  EXPECT_EQ(format_number(0x1p-1073, Rounding::down), "9.881e-324");
  EXPECT_EQ(format_number(-0x1p-1073, Rounding::up), "-9.881e-324");
  EXPECT_EQ(format_number(std::numeric_limits<double>::max(), Rounding::up), "1.798e308");
  EXPECT_EQ(format_number(std::numeric_limits<double>::max(), Rounding::down), "1.797e308");
}

TEST(FormatProbability, NearOneShowsTheDistance) {
  EXPECT_EQ(format_probability(1.0), "1");
  EXPECT_EQ(format_probability(0.0), "0");
  EXPECT_EQ(format_probability(0.99987), "0.9999");
  EXPECT_EQ(format_probability(0.9999, Rounding::up), "0.9999");
  EXPECT_EQ(format_probability(1.0 - 3.24e-9), "1 - 3.2e-9");
  EXPECT_EQ(format_probability(1.0 - 3.24e-9, Rounding::up), "1 - 3.2e-9");
  EXPECT_EQ(format_probability(1.0 - 3.24e-9, Rounding::down), "1 - 3.3e-9");
  EXPECT_EQ(format_probability(1.0 - 0x1p-53), "1 - 1.1e-16");
  EXPECT_EQ(format_probability(1.2345), "1.234");  // a bound may exceed 1
}

TEST(FormatInput, AsTyped) {
  EXPECT_EQ(format_input(0.1), "0.1");
  EXPECT_EQ(format_input(0.1 + 0.2), "0.3");
  EXPECT_EQ(format_input(1e-5), "1e-5");
  EXPECT_EQ(format_input(2.5e7), "25000000");
  EXPECT_EQ(format_input(1e300), "1e300");
  EXPECT_EQ(format_input(10.0), "10");
  EXPECT_EQ(format_input(100.5), "100.5");
  EXPECT_EQ(format_input(kInf), "inf");
}

TEST(FormatClaimed, RoundingFollowsTheClaim) {
  const double third = 1.0 / 3.0;
  EXPECT_EQ(format_claimed({third, Claim::upper_bound}), "0.3334");
  EXPECT_EQ(format_claimed({third, Claim::lower_bound}), "0.3333");
  EXPECT_EQ(format_claimed({2.0 * third, Claim::exact}), "0.6667");
  EXPECT_EQ(format_claimed({2.0 * third, Claim::estimate}), "0.6667");
  EXPECT_EQ(format_claimed({2.0 * third, Claim::lower_bound}), "0.6666");
  EXPECT_EQ(format_claimed({1.0 - 1e-7, Claim::upper_bound}), "1.000");
  EXPECT_EQ(format_claimed({1.0 - 1.06e-7, Claim::upper_bound}, NumberStyle::probability),
            "1 - 1.0e-7");
}

}  // namespace
}  // namespace sfumato
