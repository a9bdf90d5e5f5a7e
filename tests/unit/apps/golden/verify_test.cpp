#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "golden/golden_document.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::apps {
namespace {

class VerifyAnswers : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("sfumato_verify_" + std::to_string(::getpid()) + ".json");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  VerifyAnswer check(const std::string& cases, VerifyQuestion question = {}) {
    std::ofstream(path_) << "{\"cases\": [" << cases << "]}";
    question.file = path_.string();
    Observer observer;
    return answer(question, observer);
  }

  static std::string lsi(const std::string& expected, const std::string& section = "7") {
    return "{\"id\": \"a\", \"section\": \"" + section +
           "\", \"function\": \"lsi_constant\", \"inputs\": {\"sigma2\": 1, \"kappa\": 1, "
           "\"C0\": 1, \"t\": 0}, \"outputs\": {\"C_t\": " +
           expected + "}, \"rtol\": 1e-9, \"atol\": 0}";
  }

  std::filesystem::path path_;
};

TEST_F(VerifyAnswers, CountsAndVerdict) {
  const VerifyAnswer good = check(lsi("1"));
  EXPECT_EQ(good.passed, 1);
  EXPECT_EQ(good.verdict, Verdict::holds);
  const VerifyAnswer bad = check(lsi("1") + "," + lsi("2"));
  EXPECT_EQ(bad.passed, 1);
  EXPECT_EQ(bad.failed, 1);
  EXPECT_EQ(bad.verdict, Verdict::violated);
  ASSERT_EQ(bad.failures.size(), 1U);
  EXPECT_EQ(bad.failures[0].output, "C_t");
  EXPECT_EQ(bad.failures[0].expected, 2.0);
  EXPECT_NEAR(bad.failures[0].got, 1.0, 1e-12);
}

TEST_F(VerifyAnswers, EnclosuresContainTheValueAndAreNarrow) {
  const auto one_step = [](const std::string& delta, const std::string& rtol) {
    return R"({"id": "e", "section": "17.4", "function": "subsampled_gaussian_delta", "inputs": {"q": 0.01, "noise_multiplier": 1.0,)"
           R"( "direction": "remove", "steps": 1000, "eps": 1.0}, "outputs": {"delta": )" +
           delta + R"(}, "rtol": )" + rtol + R"(, "atol": 0})";
  };
  EXPECT_EQ(check(one_step("0.002612420578626924", "1e-9")).passed, 1);
  const VerifyAnswer outside = check(one_step("0.002612421", "1e-9"));  // by 1.6e-7
  ASSERT_EQ(outside.failures.size(), 2U);  // the lower end is too far, the upper end too low
  EXPECT_EQ(outside.failures[1].output, "delta from above");
  // Inside, but wider than 1e-16 of it.
  EXPECT_GE(check(one_step("0.002612420578626924", "1e-16")).failures.size(), 1U);
}

TEST_F(VerifyAnswers, UnknownFunctionsAreSkippedUnlessStrict) {
  const std::string unknown =
      "{\"id\": \"b\", \"section\": \"1\", \"function\": \"new_one\", \"inputs\": {}, "
      "\"outputs\": {}}";
  EXPECT_EQ(check(lsi("1") + "," + unknown).verdict, Verdict::holds);
  VerifyQuestion strict;
  strict.strict = true;
  const VerifyAnswer found = check(lsi("1") + "," + unknown, strict);
  EXPECT_EQ(found.skipped, 1);
  EXPECT_TRUE(found.unknown.contains("new_one"));
  EXPECT_EQ(found.verdict, Verdict::violated);
}

TEST_F(VerifyAnswers, SectionsAndBadFiles) {
  VerifyQuestion question;
  question.sections = {"8"};
  EXPECT_EQ(check(lsi("1") + "," + lsi("1", "8"), question).passed, 1);
  question.sections = {"99"};
  EXPECT_THROW((void)check(lsi("1"), question), InvalidArgument);
  EXPECT_THROW((void)check("{}"), InvalidArgument);
  EXPECT_THROW((void)check("3,"), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::apps
