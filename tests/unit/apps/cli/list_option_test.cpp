#include "list_option.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

std::vector<double> numbers(const std::vector<std::string>& given) {
  std::vector<double> numbers;
  for (const std::string& item : split_option("--times", given)) {
    numbers.push_back(parse_option_number("--times", item));
  }
  return numbers;
}

std::string refusal(const std::string& value) {
  try {
    (void)numbers({value});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ListOption, Lists) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(numbers({}), std::vector<double>{});
  EXPECT_EQ(numbers({"1, 2e-3,inf,-INF"}), (std::vector<double>{1.0, 2e-3, inf, -inf}));
  EXPECT_EQ(numbers({"1", "2"}), (std::vector<double>{1.0, 2.0}));
  EXPECT_TRUE(std::isnan(numbers({"nan"}).at(0)));
  EXPECT_EQ(split_option("--features", {"a,b c"}), (std::vector<std::string>{"a", "b c"}));
}

TEST(ListOption, Refusals) {
  for (const char* text : {"1,,2", ",1", "1,", " ", "1, ,2"}) {
    EXPECT_NE(refusal(text).find("--times: "), std::string::npos) << text;
    EXPECT_NE(refusal(text).find("empty item"), std::string::npos) << text;
  }
  for (const char* text : {"x", "1;2", "0x10", "1 2", "--1"}) {
    EXPECT_NE(refusal(text).find("is not a number"), std::string::npos) << text;
  }
  EXPECT_NE(refusal("1e400").find("does not fit"), std::string::npos);
}

}  // namespace
}  // namespace sfumato::apps
