// The state of an accountant in a file.
#include "sfumato/account/state.hpp"

#include <gtest/gtest.h>

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
  const SavedAccount again = load_account(save({accountant, {"abc", "def"}}), "state");
  EXPECT_EQ(again.accountant.releases().list, accountant.releases().list);
  EXPECT_EQ(again.accountant.releases().relation, accountant.releases().relation);
  EXPECT_EQ(again.models, (std::vector<std::string>{"abc", "def"}));
  EXPECT_EQ(save(again), save({accountant, {"abc", "def"}}));
}

Accountant two_releases() {
  Accountant accountant(NeighbouringRelation::zero_out);
  accountant.compose({GaussianNoise{2}, Sampler::poisson, 0.01, 1000});
  accountant.compose({GaussianNoise{5}, Sampler::full, 1, 3});
  return accountant;
}

TEST(AccountState, WhatIsNoWholeAccountIsRefused) {
  const std::string text = save({two_releases()});
  EXPECT_THROW((void)load_account("adjacency = \"remove\"", "state"), InvalidArgument);
  EXPECT_THROW((void)load_account("", "state"), InvalidArgument);
  EXPECT_THROW(
      (void)load_account("adjacency = \"zero_out\"\n[[release]]\nnoise_multiplier = 1\n", "state"),
      InvalidArgument);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW((void)load_account(text.substr(0, size), "state"), InvalidArgument) << size;
  }
}

TEST(AccountState, EditsAreRefused) {
  const std::string text = save({two_releases(), {"abc"}});
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return changed;
  };
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"format = 2", "format = 1"},
           {"format = 2", "format = 3"},
           {"format = 2\n", ""},
           {"count = 2", "count = 1"},
           {"zero_out", "add_remove"},
           {"noise_multiplier = [2]", "noise_multiplier = [2000]"},
           {"steps = 1000", "steps = 1"},
           {"abc", "abd"},
           {"proven_epsilon = ", "proven_epsilon = 1"}}) {
    EXPECT_THROW((void)load_account(edited(from, to), "state"), InvalidArgument) << from << to;
  }
}

}  // namespace
}  // namespace sfumato
