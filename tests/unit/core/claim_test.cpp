#include "sfumato/core/claim.hpp"

#include <gtest/gtest.h>

#include "sfumato/core/units.hpp"

namespace sfumato {
namespace {

TEST(Claim, SymbolsAndNames) {
  EXPECT_EQ(symbol(Claim::exact), "=");
  EXPECT_EQ(symbol(Claim::upper_bound), "<=");
  EXPECT_EQ(symbol(Claim::lower_bound), ">=");
  EXPECT_EQ(symbol(Claim::estimate), "~");
  EXPECT_EQ(name(Claim::upper_bound), "upper_bound");
}

TEST(Claim, MapKeepsWhatTheNumberIs) {
  const Claimed<Nats> kl{Nats(0.5), Claim::upper_bound, "path bound", {"common start"}, 0.95};
  const Claimed<double> plain = map(kl, [](Nats n) { return n.value(); });
  EXPECT_EQ(plain.value, 0.5);
  EXPECT_EQ(plain.claim, Claim::upper_bound);
  EXPECT_EQ(plain.method, "path bound");
  EXPECT_EQ(plain.assumptions.size(), 1u);
  EXPECT_EQ(plain.confidence, 0.95);
}

}  // namespace
}  // namespace sfumato
