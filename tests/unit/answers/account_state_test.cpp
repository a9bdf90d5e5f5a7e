// The state of an accountant in a file.
#include <gtest/gtest.h>

#include "sfumato/answers/account/state.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

TEST(AccountState, StateComesBackBitForBit) {
  Accountant accountant(NeighbouringRelation::replace_one);
  accountant.compose({GaussianNoise{1.0 / 3.0}, Sampler::poisson, 0.1 + 0.2, 12345});
  accountant.compose({GaussianNoise{4}, Sampler::fixed_size, 1, 400, 100, 5});
  accountant.compose({GaussianNoise{7}, Sampler::shuffle, 1, 3});
  accountant.compose({LaplaceNoise{9.9}, Sampler::full, 1, 2});
  accountant.compose({KnownStep{Epsilon(0.01), Delta(1e-9)}, Sampler::full, 1, 4});
  accountant.compose({HiddenIterates{0.123}, Sampler::full, 1, 1});
  const Accountant again = load_accountant(save(accountant), "state");
  EXPECT_EQ(again.releases().list, accountant.releases().list);
  EXPECT_EQ(again.releases().relation, accountant.releases().relation);
  EXPECT_EQ(save(again), save(accountant));
  EXPECT_THROW((void)load_accountant("adjacency = \"remove\"", "state"), InvalidArgument);
  EXPECT_THROW((void)load_accountant("", "state"), InvalidArgument);
  EXPECT_THROW((void)load_accountant("adjacency = \"zero_out\"\n[[release]]\nsigma = 1\n", "state"),
               InvalidArgument);
}

}  // namespace
}  // namespace sfumato
