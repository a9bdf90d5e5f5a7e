#include <gtest/gtest.h>

#include <string>

#include "sfumato/account/accountant/accountant.hpp"

namespace sfumato {
namespace {

TEST(Guarantee, SaysWhatItRestsOn) {
  Accountant accountant(NeighbouringRelation::add_remove);
  accountant.compose({GaussianNoise{1.1}, Sampler::poisson, .00427, 14062});
  const Guarantee guarantee = accountant.guarantee(Delta(1e-5));
  EXPECT_EQ(guarantee.claimed_epsilon().claim, Claim::upper_bound);
  const std::string text = privacy_statement(guarantee);
  for (const char* part : {"differential privacy", "add_remove", "14,062 steps", "0.00427",
                           "Poisson", "Not covered"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  // Exact noise leaves the clock, ordinary noise the low bits.
  EXPECT_NE(text.find("floating-point side channels"), std::string::npos) << text;
  const std::string exact = privacy_statement(guarantee, NoiseArithmetic::exact);
  EXPECT_EQ(exact.find("floating-point"), std::string::npos) << exact;
  EXPECT_NE(exact.find("the time that the computation takes"), std::string::npos) << exact;
}

}  // namespace
}  // namespace sfumato
