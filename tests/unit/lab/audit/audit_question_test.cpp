#include "sfumato/lab/audit/audit_question.hpp"

#include <gtest/gtest.h>

#include "lab/audit/audit_keys.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

AuditQuestion read(const std::string& toml) {
  AuditQuestion question;
  read_keys(question, TomlTable::parse(toml, "q.toml"), audit_keys());
  return question;
}

/// The key that a question is refused at; empty if it is not.
std::string refused_at(const AuditQuestion& question) {
  try {
    check(question);
  } catch (const InvalidArgument& error) {
    return error.where().text();
  }
  return "";
}

AuditQuestion files() {
  AuditQuestion question;
  question.members = "in.csv";
  question.nonmembers = "out.csv";
  question.unit = ScoreUnit::models;
  return question;
}

TEST(AuditQuestion, UnitsMayBeSingular) {
  for (const char* text : {"model", "models"}) {
    EXPECT_EQ(read(std::string("unit = \"") + text + "\"").unit, ScoreUnit::models);
  }
  for (const char* text : {"record", "records"}) {
    EXPECT_EQ(read(std::string("unit = \"") + text + "\"").unit, ScoreUnit::records);
  }
  EXPECT_THROW((void)read("unit = \"row\""), InvalidArgument);
}

TEST(AuditQuestion, KeysHaveTheNamesOfTheOtherCommandsAndOldOnes) {
  const AuditQuestion question = read(
      "ledger = \"a.ledger\"\nepsilons = [0.1, 2]\ndelta = [1e-6]\nclaim = \"eps=3\"\n"
      "strategy = \"held-out\"\nguesses = 7");
  EXPECT_EQ(question.epsilons, (std::vector{0.1, 2.0}));
  EXPECT_EQ(question.deltas, std::vector{1e-6});
  EXPECT_EQ(question.claim, (ClaimedGuarantee{Epsilon(3.0), Delta(1e-5)}));
  EXPECT_EQ(question.strategy, ThresholdStrategy::held_out);
  EXPECT_EQ(question.guesses, 7U);
  EXPECT_EQ(read("eps = [0.1]").epsilons, std::vector{0.1});
  EXPECT_EQ(read("non_members = \"o.csv\"").nonmembers, "o.csv");
  EXPECT_TRUE(read("randomized = true").randomised);
  EXPECT_EQ(read("access = \"white-box\"").access, ScoreAccess::weights);
}

TEST(AuditQuestion, OneSourceOfScores) {
  EXPECT_EQ(refused_at({}), "ledger");
  AuditQuestion both = files();
  EXPECT_EQ(refused_at(both), "");
  both.ledger = "a.ledger";
  EXPECT_EQ(refused_at(both), "ledger");
  AuditQuestion half = files();
  half.nonmembers.clear();
  EXPECT_EQ(refused_at(half), "nonmembers");
  AuditQuestion layout;
  layout.logits = "l.npy";
  EXPECT_EQ(refused_at(layout), "membership");
}

TEST(AuditQuestion, ScoresNeedTheirUnitAndLedgersHaveOne) {
  AuditQuestion question = files();
  question.unit.reset();
  EXPECT_EQ(refused_at(question), "unit");
  AuditQuestion ledger;
  ledger.ledger = "a.ledger";
  EXPECT_EQ(refused_at(ledger), "");
  ledger.unit = ScoreUnit::models;
  EXPECT_EQ(refused_at(ledger), "unit");
}

TEST(AuditQuestion, WhatContradictsIsRefused) {
  AuditQuestion question = files();
  question.randomised = true;
  EXPECT_EQ(refused_at(question), "randomised");
  question.unit = ScoreUnit::records;
  EXPECT_EQ(refused_at(question), "");
  question.pool = true;
  EXPECT_EQ(refused_at(question), "pool");
  question = files();
  question.guesses = 3;
  EXPECT_EQ(refused_at(question), "guesses");
  question = files();
  question.unit = ScoreUnit::records;
  question.claim = ClaimedGuarantee{Epsilon(1.0), Delta(0.0)};
  EXPECT_EQ(refused_at(question), "claim");
  question = files();
  question.strategy = ThresholdStrategy::fixed;
  EXPECT_EQ(refused_at(question), "threshold");
  question = files();
  question.model = 2;
  EXPECT_EQ(refused_at(question), "model");
  question = files();
  question.score = "loss";
  EXPECT_EQ(refused_at(question), "score");
}

TEST(AuditQuestion, APlanHasNoScores) {
  const AuditQuestion plan = read("plan = \"eps=3,delta=1e-6\"\nruns = 100");
  EXPECT_EQ(plan.plan, (ClaimedGuarantee{Epsilon(3.0), Delta(1e-6)}));
  EXPECT_EQ(plan.runs, 100U);
  EXPECT_EQ(refused_at(plan), "");
  EXPECT_THROW((void)read("runs = 0"), InvalidArgument);
  EXPECT_THROW((void)read("runs = 10000001"), InvalidArgument);
  EXPECT_THROW((void)read("plan = \"3\""), InvalidArgument);
  AuditQuestion both = files();
  both.plan = plan.plan;
  EXPECT_EQ(refused_at(both), "ledger");
  AuditQuestion without = files();
  without.runs = 10;
  EXPECT_EQ(refused_at(without), "runs");
  const auto with = [&](const std::string& toml) {
    return refused_at(read("plan = \"eps=3\"\n" + toml));
  };
  EXPECT_EQ(with("unit = \"models\""), "unit");
  EXPECT_EQ(with("claim = \"eps=3\""), "claim");
  EXPECT_EQ(with("delta = [1e-6]"), "delta");
  EXPECT_EQ(with("randomised = true"), "randomised");
  EXPECT_EQ(with("policy = \"a\""), "policy");
  EXPECT_EQ(with("strategy = \"ranks\"\nconfidence = 0.9\nlook = 2"), "");
}

}  // namespace
}  // namespace sfumato::lab
