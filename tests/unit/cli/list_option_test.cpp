#include "list_option.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato::cli {
namespace {

struct Parsed {
  std::vector<double> numbers{7.0};
  std::vector<std::string> words;
};

Parsed parse(std::vector<std::string> line) {
  CLI::App app;
  Parsed result;
  add_numbers_option(app, "--times,-t", result.numbers, "times");
  add_words_option(app, "--features", result.words, "columns");
  std::reverse(line.begin(), line.end());  // CLI11 takes a vector from its end
  app.parse(line);
  return result;
}

std::string refusal(const std::string& option, const std::string& value) {
  try {
    (void)parse({option, value});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ListOption, Lists) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse({}).numbers, std::vector<double>{7.0});
  EXPECT_EQ(parse({"--times", "1, 2e-3,inf,-INF"}).numbers,
            (std::vector<double>{1.0, 2e-3, inf, -inf}));
  EXPECT_EQ(parse({"--times=1", "-t", "2"}).numbers, (std::vector<double>{1.0, 2.0}));
  EXPECT_TRUE(std::isnan(parse({"--times", "nan"}).numbers.at(0)));
  EXPECT_EQ(parse({"--features", "a,b c"}).words, (std::vector<std::string>{"a", "b c"}));
}

TEST(ListOption, TheWordAfterTheListIsNotTaken) {
  EXPECT_THROW((void)parse({"--times", "1", "2"}), CLI::ExtrasError);
}

TEST(ListOption, Refusals) {
  for (const char* text : {"1,,2", ",1", "1,", " ", "1, ,2"}) {
    EXPECT_NE(refusal("--times", text).find("--times: "), std::string::npos) << text;
    EXPECT_NE(refusal("--times", text).find("empty item"), std::string::npos) << text;
    EXPECT_NE(refusal("--features", text).find("empty item"), std::string::npos) << text;
  }
  for (const char* text : {"x", "1;2", "0x10", "1 2", "--1"}) {
    EXPECT_NE(refusal("--times", text).find("is not a number"), std::string::npos) << text;
  }
  EXPECT_NE(refusal("--times", "1e400").find("does not fit"), std::string::npos);
}

}  // namespace
}  // namespace sfumato::cli
