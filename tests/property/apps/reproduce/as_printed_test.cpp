#include "reproduce/as_printed.hpp"

#include <gtest/gtest.h>

#include "support/random_pair.hpp"

namespace sfumato::apps {
namespace {

using testing::RandomPair;

// The printed bound fails on some of the pairs on which the corrected ones hold (erratum 1).
TEST(AsPrintedProperty, TheEntropyBoundIsViolatedSomewhere) {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    RandomPair random(6'000'000 + seed);
    const OuPair pair = random.pair(random.integer(1, 3), RandomPair::NoiseOf::unequal,
                                    RandomPair::StartOf::common);
    violated += as_printed::entropy_bound(pair, random.log_uniform(0.1, 10.0)).valid ? 0 : 1;
  }
  EXPECT_GT(violated, 0);
}

}  // namespace
}  // namespace sfumato::apps
