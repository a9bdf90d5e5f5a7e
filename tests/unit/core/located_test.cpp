#include "sfumato/core/located.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sfumato/core/check.hpp"

namespace sfumato {
namespace {

const Where kFile = Where::at("problem.toml", 4, 7);

template <class E, class Work>
std::string message_of(const Work& work) {
  try {
    located(kFile, work);
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Located, ReturnsWhatTheWorkReturns) {
  int value = 3;
  int& same = located(kFile, [&]() -> int& { return value; });
  EXPECT_EQ(&same, &value);
}

TEST(Located, PutsThePlaceOfTheValueBeforeTheAdvice) {
  EXPECT_EQ(
      message_of<InvalidArgument>([] { return require_positive("weight 2", -1.0); }),
      "problem.toml:4:7: weight 2 = -1 is not a finite positive number. Check the sign and the "
      "unit.");
  EXPECT_EQ(message_of<NumericalFailure>(
                []() -> int { throw NumericalFailure("it overflows", "Rescale it"); }),
            "problem.toml:4:7: it overflows. Rescale it.");
}

TEST(Located, KeepsAPlaceThatTheUserKnows) {
  EXPECT_EQ(message_of<InvalidArgument>(
                []() -> int { throw InvalidArgument("ragged", "Fix it", Where::in("a.csv")); }),
            "a.csv: ragged. Fix it.");
}

TEST(Located, KeepsStorageErrorsAndBugs) {
  EXPECT_EQ(message_of<StorageError>(
                []() -> int { throw StorageError("disk full", "Free it", Where::here("write")); }),
            "write: disk full. Free it.");
  EXPECT_EQ(message_of<InternalError>([]() -> int {
              throw InternalError("broken", Where::here("f"));
            }).substr(0, 10),
            "f: broken.");
}

}  // namespace
}  // namespace sfumato
