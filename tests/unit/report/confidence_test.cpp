#include "sfumato/report/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfumato {
namespace {

TEST(FormatConfidence, IsRoundedDownAndNeverCertain) {
  EXPECT_EQ(format_confidence(0.95), "0.95");
  EXPECT_EQ(format_confidence_percent(0.95), "95");
  EXPECT_EQ(format_confidence(0.9999999), "0.9999999");
  EXPECT_EQ(format_confidence_percent(0.9999999), "99.99999");
  EXPECT_EQ(format_confidence(1.0 - 0.05 / 6.0), "0.991666");
  EXPECT_EQ(format_confidence_percent(1.0 - 0.05 / 6.0), "99.1666");
  EXPECT_EQ(format_confidence_percent(0.5), "50");
  EXPECT_EQ(format_confidence_percent(0.05), "5");
  EXPECT_EQ(format_confidence_percent(0.007), "0.7");
  const std::string nearly = format_confidence(std::nextafter(1.0, 0.0));
  EXPECT_LT(std::stod(nearly), 1.0) << nearly;
  for (const double c : {0.1, 0.3, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.99999999}) {
    EXPECT_EQ(std::stod(format_confidence(c)), c);
    EXPECT_NEAR(std::stod(format_confidence_percent(c)), 100.0 * c, 1e-12);
  }
}

}  // namespace
}  // namespace sfumato
