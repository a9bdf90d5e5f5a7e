// Spec §1.6: adjacency is explicit.
#include "sfumato/data/adjacency.hpp"

#include <gtest/gtest.h>

namespace sfumato {
namespace {

TEST(Adjacency, Names) {
  EXPECT_EQ(name(Adjacency::remove), "remove");
  EXPECT_EQ(name(Adjacency::replace), "replace");
}

}  // namespace
}  // namespace sfumato
