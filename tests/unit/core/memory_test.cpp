#include "sfumato/core/memory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sfumato {
namespace {

TEST(Memory, SomeIsAvailable) { EXPECT_GT(available_memory(), 0x1p24); }

TEST(Memory, HalfOfWhatIsAvailableMayBeUsed) {
  EXPECT_NO_THROW(require_memory(1e9, 2e9, "a table", "Use fewer columns"));
  try {
    require_memory(2e10, 3e10, "a table of 3 rows and 50000 columns", "Use fewer columns");
    FAIL() << "more than half was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.advice()),
              "a table of 3 rows and 50000 columns needs about 20 GB of memory; 30 GB are "
              "available, of which half may be used. Use fewer columns.");
  }
}

TEST(Memory, LittleIsNeverRefused) { EXPECT_NO_THROW(require_memory(1e7, 0.0, "a table", "")); }

}  // namespace
}  // namespace sfumato
