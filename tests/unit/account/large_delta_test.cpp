#include "sfumato/account/large_delta.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(LargeDelta, AboveOneOverTheRecordsIsRefusedUnlessAllowed) {
  EXPECT_THROW(require_small_delta(1.1e-3, 1000, false), InvalidArgument);
  EXPECT_NO_THROW(require_small_delta(1.1e-3, 1000, true));
  EXPECT_NO_THROW(require_small_delta(0.9e-3, 1000, false));
}

TEST(LargeDelta, ATenthOfThatIsWarnedOf) {
  EXPECT_TRUE(large_delta_warning(0.9e-4, 1000).empty());
  EXPECT_FALSE(large_delta_warning(1.1e-4, 1000).empty());
}

}  // namespace
}  // namespace sfumato
