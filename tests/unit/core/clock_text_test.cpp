#include "sfumato/core/clock_text.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(ClockText, HasMinutesAndHoursWhereThereAreSome) {
  EXPECT_EQ(clock_text(7.0), "0:07");
  EXPECT_EQ(clock_text(754.0), "12:34");
  EXPECT_EQ(clock_text(3723.0), "1:02:03");
  EXPECT_EQ(clock_text(0.0), "0:00");
}

}  // namespace
}  // namespace sfumato
