#include "sfumato/core/verdict.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(Verdict, NamesAreThoseOfTheDocuments) {
  EXPECT_EQ(name(Verdict::none), "none");
  EXPECT_EQ(name(Verdict::holds), "holds");
  EXPECT_EQ(name(Verdict::not_refuted), "not_refuted");
  EXPECT_EQ(name(Verdict::open), "open");
  EXPECT_EQ(name(Verdict::violated), "violated");
}

TEST(Verdict, TheWorstOneDecides) {
  EXPECT_EQ(worst(Verdict::holds, Verdict::none), Verdict::holds);
  EXPECT_EQ(worst(Verdict::not_refuted, Verdict::open), Verdict::open);
  EXPECT_EQ(worst(Verdict::violated, Verdict::open), Verdict::violated);
}

}  // namespace
}  // namespace sfumato
