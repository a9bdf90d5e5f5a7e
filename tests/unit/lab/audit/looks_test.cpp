#include "lab/audit/looks.hpp"

#include <gtest/gtest.h>

#include "sfumato/lab/ledger/ledger.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

TEST(Looks, AFinishedLedgerIsLookedAtOnceAtTheWholeLevel) {
  const Look first = look_at({}, 100, 100);
  EXPECT_EQ(first.number, 1U);
  EXPECT_FALSE(first.splits);
  EXPECT_TRUE(first.is_new);
  const Look again = look_at({{1, 100}}, 100, 100);
  EXPECT_EQ(again.number, 1U);
  EXPECT_FALSE(again.splits);
  EXPECT_FALSE(again.is_new);
}

TEST(Looks, AGrowingLedgerSplitsTheLevel) {
  EXPECT_TRUE(look_at({}, 40, 100).splits);
  EXPECT_EQ(look_at({{1, 40}}, 40, 100).number, 1U);
  EXPECT_TRUE(look_at({{1, 40}}, 40, 100).splits);
  const Look last = look_at({{1, 40}, {2, 70}}, 100, 100);
  EXPECT_EQ(last.number, 3U);
  EXPECT_TRUE(last.splits);
  EXPECT_TRUE(last.is_new);
}

TEST(Looks, WhatTheUserKnowsCountsButForgetsNothing) {
  EXPECT_EQ(look_at({}, 100, 100, 3).number, 3U);
  EXPECT_TRUE(look_at({}, 100, 100, 3).splits);
  // A recorded look at fewer trials stays a look, whatever the user says.
  EXPECT_EQ(look_at({{1, 40}}, 100, 100, 1).number, 2U);
  EXPECT_TRUE(look_at({{1, 40}}, 100, 100, 1).splits);
  EXPECT_EQ(look_at({{3, 40}}, 100, 100, 2).number, 4U);
  EXPECT_EQ(look_at({{1, 100}}, 100, 100, 2).number, 2U);
  EXPECT_TRUE(look_at({{1, 100}}, 100, 100, 2).is_new);
}

TEST(Looks, ALedgerKeepsThem) {
  const TempDir dir;
  const std::string path = dir / "l";
  { (void)Ledger::open(path, {"study", "1", "AVX2", {}}, nullptr); }
  const Ledger ledger = Ledger::read(path);
  EXPECT_TRUE(ledger.looks().empty());
  ledger.record_look(1, 3);
  ledger.record_look(4, 7);
  EXPECT_TRUE(ledger.looks().empty());  // it is of one moment
  EXPECT_EQ(Ledger::read(path).looks(), (std::map<std::uint64_t, std::uint64_t>{{1, 3}, {4, 7}}));
  // Also while another connection holds the lock for trials.
  const Ledger adding = Ledger::open(path, {"study", "1", "AVX2", {}}, nullptr);
  ledger.record_look(5, 9);
  EXPECT_EQ(adding.looks().size(), 3U);
}

}  // namespace
}  // namespace sfumato::lab
