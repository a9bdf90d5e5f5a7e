// Values, admissibility and refusals of Spec §8.3.
#include "sfumato/divergence/chain_gap.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(ChainGap, SecondForm) {
  EXPECT_EQ(chain_bound_second_form({}, 0.5).value(), 0.0);
  EXPECT_DOUBLE_EQ(chain_bound_second_form({3}, 0.5).value(), 4.5);
  EXPECT_DOUBLE_EQ(chain_bound_second_form({2, 1}, 0.5).value(), 0.5 * 4.0 / 1.25);
}

// The difference is in the last step alone: the true KL can be d^2/2, and the form would give less.
TEST(ChainGap, SecondFormRefusesLateGaps) {
  EXPECT_FALSE(chain_bound_second_form({0, 0, 1}, 0.9).has_value());
}

TEST(ChainGap, Refusals) {
  EXPECT_THROW((void)chain_bound_second_form({1}, 1.1), InvalidArgument);
  EXPECT_THROW((void)chain_bound_second_form({1}, -0.1), InvalidArgument);
  EXPECT_THROW((void)chain_bound_second_form({-1}, 0.5), InvalidArgument);
  EXPECT_THROW((void)chain_bound_second_form({std::nan("")}, 0.5), InvalidArgument);
}

}  // namespace
}  // namespace sfumato
