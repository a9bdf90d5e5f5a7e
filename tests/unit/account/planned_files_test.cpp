#include "sfumato/account/planned_files.hpp"

#include <gtest/gtest.h>

#include "sfumato/account/budget_booking.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

SavedAccount account_of(const std::vector<std::string>& models) {
  Accountant accountant(NeighbouringRelation::add_remove);
  accountant.compose({GaussianNoise{2.0}});
  return {accountant, models};
}

constexpr const char* kModel =
    R"({"format": "sfumato.fit/2", "coef_": [1.0], "guarantee": {"certified" : true}})";

TEST(KeptFile, IsToldByContent) {
  const TempDir dir;
  EXPECT_EQ(kept_file(dir / "none"), KeptFile::none);
  put(dir / "table.csv", "a,b\n1,2\n");
  put(dir / "empty", "");
  put(dir / "tried.json", R"({"format": "sfumato.fit/2", "guarantee": {"certified": false}})");
  put(dir / "other.json", R"({"certified": true})");
  for (const char* name : {"table.csv", "empty", "tried.json", "other.json"}) {
    EXPECT_EQ(kept_file(dir / name), KeptFile::none) << name;
  }
  put(dir / "m.json", kModel);
  put(dir / "compact.json",
      "\xEF\xBB\xBF {\"guarantee\":{\"certified\":true},\"format\":\"sfumato.fit/3\"}");
  EXPECT_EQ(kept_file(dir / "m.json"), KeptFile::model);
  EXPECT_EQ(kept_file(dir / "compact.json"), KeptFile::model);
  put(dir / "a.toml", save(account_of({})));
  EXPECT_EQ(kept_file(dir / "a.toml"), KeptFile::account);
  (void)BudgetBooking(dir / "b", "eps=3,delta=1e-6", account_of({}).accountant, {"fit"});
  EXPECT_EQ(kept_file(dir / "b"), KeptFile::budget);
}

TEST(KeptFile, IsAModelThatSomethingBesideItNames) {
  const TempDir dir;
  put(dir / "m.csv", "1\n");
  put(dir / "m.accounting.toml", save(account_of({std::string(64, '0')})));
  EXPECT_EQ(kept_file(dir / "m.csv"), KeptFile::none);
  put(dir / "m.accounting.toml", save(account_of({sha256("1\n")})));
  EXPECT_EQ(kept_file(dir / "m.csv"), KeptFile::model);
  put(dir / "model.npz", "2");
  put(dir / "accounting.toml", save(account_of({sha256("2")})));
  EXPECT_EQ(kept_file(dir / "model.npz"), KeptFile::model);
  put(dir / "t.csv", "3");
  put(dir / "t.md", "A statement." + statement_of_model(dir / "t.csv", "3"));
  EXPECT_EQ(kept_file(dir / "t.csv"), KeptFile::model);
  put(dir / "t.csv", "4");
  EXPECT_EQ(kept_file(dir / "t.csv"), KeptFile::none);
}

TEST(PrepareOutputs, ForceReplacesNoneOfThem) {
  const TempDir dir;
  put(dir / "m.json", kModel);
  put(dir / "a.toml", save(account_of({})));
  (void)BudgetBooking(dir / "b", "eps=3,delta=1e-6", account_of({}).accountant, {"fit"});
  for (const char* name : {"m.json", "a.toml", "b"}) {
    EXPECT_THROW(prepare_outputs({}, {{"out", dir / name}}, false), StorageError) << name;
    EXPECT_THROW(prepare_outputs({}, {{"out", dir / name}}, true), InvalidArgument) << name;
  }
  prepare_outputs({}, {{"out", dir / "m.json", true}, {"save", dir / "a.toml", true}}, true);
  EXPECT_THROW(prepare_outputs({}, {{"out", dir / "b", true}}, true), InvalidArgument);
  EXPECT_THROW(prepare_outputs({dir / "t"}, {{"out", dir / "t"}}, true), InvalidArgument);
}

TEST(IsOlderStatement, IsAboutTheModelThere) {
  const TempDir dir;
  put(dir / "model.npz", "1");
  put(dir / "PRIVACY.md", "Ours." + statement_of_model(dir / "model.npz", "1"));
  EXPECT_TRUE(is_older_statement(dir / "PRIVACY.md", dir / "model.npz"));
  put(dir / "model.npz", "2");
  EXPECT_FALSE(is_older_statement(dir / "PRIVACY.md", dir / "model.npz"));
  withdraw_statement(dir / "PRIVACY.md");
  EXPECT_TRUE(is_older_statement(dir / "PRIVACY.md", dir / "model.npz"));
  put(dir / "PRIVACY.md", "The policy of this company.");
  EXPECT_FALSE(is_older_statement(dir / "PRIVACY.md", dir / "gone.npz"));
}

TEST(ContinuesAccount, HasAllReleases) {
  const TempDir dir;
  put(dir / "a.toml", save(account_of({})));
  PrivateReleases all = account_of({}).accountant.releases();
  EXPECT_TRUE(continues_account(all, dir / "a.toml"));
  all.list.push_back({GaussianNoise{5.0}});
  EXPECT_TRUE(continues_account(all, dir / "a.toml"));
  all.list.erase(all.list.begin());
  EXPECT_FALSE(continues_account(all, dir / "a.toml"));
  put(dir / "a.toml", save(account_of({std::string(64, '0')})));  // it stands for a model
  EXPECT_FALSE(continues_account(account_of({}).accountant.releases(), dir / "a.toml"));
}

TEST(Budget, IsNeverMadeAnew) {
  const TempDir dir;
  const Accountant one = account_of({}).accountant;
  EXPECT_THROW(BudgetBooking(dir / "b", "", one, {"fit"}), InvalidArgument);
  EXPECT_THROW(BudgetBooking(dir / "b", "eps=0.01,delta=1e-6", one, {"fit"}), InvalidArgument);
  EXPECT_EQ(dir.files(), 0u);
  EXPECT_TRUE(BudgetBooking(dir / "b", "eps=9,delta=1e-6", one, {"fit"}).state().is_new);
  EXPECT_FALSE(BudgetBooking(dir / "b", "", one, {"fit"}).state().is_new);
  put(dir / "b", "");
  EXPECT_THROW(BudgetBooking(dir / "b", "eps=9,delta=1e-6", one, {"fit"}), InvalidArgument);
  EXPECT_EQ(dir.files(), 1u);
}

TEST(Budget, HasTheRuleOfADeltaForItsLimit) {
  const TempDir dir;
  const Accountant one = account_of({}).accountant;
  EXPECT_THROW(BudgetBooking(dir / "b", "eps=9,delta=0.01", one, {"fit", 1000}), InvalidArgument);
  const BudgetBooking near(dir / "b", "eps=9,delta=0.0005", one, {"fit", 1000});
  EXPECT_NE(budget_text(near.state()).find("is near 1 / 1000"), std::string::npos);
  (void)BudgetBooking(dir / "c", "eps=9,delta=0.01", one, {"fit", 1000, true});
  EXPECT_THROW(BudgetBooking(dir / "c", "", one, {"fit", 1000}), InvalidArgument);
  (void)BudgetBooking(dir / "c", "", one, {"fit"});  // so many records nobody knows of
}

}  // namespace
}  // namespace sfumato
