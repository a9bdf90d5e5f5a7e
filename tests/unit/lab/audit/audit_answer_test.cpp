#include "sfumato/lab/audit/audit_answer.hpp"

#include <gtest/gtest.h>

#include "sfumato/report/text.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

class AuditAnswerTest : public testing::Test {
 protected:
  /// Scores 0 to 99 in both worlds, those with the record higher by `shift`.
  [[nodiscard]] AuditQuestion question(double shift, ScoreUnit unit = ScoreUnit::models) const {
    std::string with = "score\n", without = "score\n";
    for (int i = 0; i < 100; ++i) {
      with += std::to_string(i * 1.01 + shift) + "\n";
      without += std::to_string(i) + "\n";
    }
    put(dir_ / "in.csv", with);
    put(dir_ / "out.csv", without);
    AuditQuestion asked;
    asked.members = dir_ / "in.csv";
    asked.nonmembers = dir_ / "out.csv";
    asked.unit = unit;
    return asked;
  }
  [[nodiscard]] AuditAnswer ask(const AuditQuestion& asked) {
    Observer observer;
    return answer(asked, observer);
  }
  TempDir dir_;
};

ClaimedGuarantee claim(double epsilon) { return {Epsilon(epsilon), Delta(1e-5)}; }

TEST_F(AuditAnswerTest, VerdictsAreValues) {
  AuditQuestion asked = question(1000.0);
  EXPECT_EQ(ask(asked).verdict, Verdict::none);
  asked.claim = claim(1.0);
  EXPECT_EQ(ask(asked).verdict, Verdict::violated);
  asked.claim = claim(9.0);
  EXPECT_EQ(ask(asked).verdict, Verdict::open);
  asked = question(5.0);
  asked.claim = claim(1.0);
  EXPECT_EQ(ask(asked).verdict, Verdict::not_refuted);
  asked = question(-1000.0);
  asked.claim = claim(1.0);
  const AuditAnswer reversed = ask(asked);
  EXPECT_EQ(reversed.verdict, Verdict::open);
  EXPECT_EQ(std::get<ScoresAudit>(reversed.found).claim->outcome, ClaimOutcome::wrong_way);
  asked.larger_means = LargerMeans::nonmember;
  EXPECT_EQ(ask(asked).verdict, Verdict::violated);
}

TEST_F(AuditAnswerTest, RecordsOfOneModelBoundNothing) {
  const AuditAnswer found = ask(question(1000.0, ScoreUnit::records));
  const auto& scores = std::get<ScoresAudit>(found.found);
  EXPECT_FALSE(scores.bounds || scores.one_run);
  EXPECT_EQ(scores.attacks.size(), 1U);
}

TEST_F(AuditAnswerTest, CoinsMakeThemAOneRunAudit) {
  AuditQuestion asked = question(1000.0, ScoreUnit::records);
  asked.randomised = true;
  asked.claim = claim(1.0);
  const AuditAnswer found = ask(asked);
  EXPECT_EQ(found.verdict, Verdict::violated);
  EXPECT_EQ(std::get<ScoresAudit>(found.found).claim->evidence, ClaimEvidence::canaries);
}

TEST_F(AuditAnswerTest, PandasWritesAnIndexBesideTheScores) {
  AuditQuestion asked = question(1000.0);
  const auto plain = std::get<ScoresAudit>(ask(asked).found);
  for (const char* header : {",score\n", ",0\n"}) {
    std::string with = header, without = header;
    for (int i = 0; i < 100; ++i) {
      with += std::to_string(i) + "," + std::to_string(i * 1.01 + 1000.0) + "\n";
      without += std::to_string(i) + "," + std::to_string(i) + "\n";
    }
    put(asked.members, with);
    put(asked.nonmembers, without);
    const auto indexed = std::get<ScoresAudit>(ask(asked).found);
    EXPECT_EQ(indexed.bounds->epsilon(Delta(1e-5)).value, plain.bounds->epsilon(Delta(1e-5)).value);
  }
}

TEST_F(AuditAnswerTest, TheVerdictComesFirstAndInBriefFitsAScreen) {
  AuditQuestion asked = question(1000.0);
  asked.claim = claim(1.0);
  const AuditAnswer found = ask(asked);
  for (const Detail detail : {Detail::brief, Detail::full}) {
    const Document document = document_of(found, detail);
    const auto* first = std::get_if<Statement>(&document.blocks().front());
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->kind, StatementKind::verdict);
    EXPECT_EQ(first->outcome, Outcome::bad);
    EXPECT_TRUE(first->plain().starts_with("VIOLATION of eps = 1, delta = 1e-05"));
    EXPECT_NE(first->plain().find("maximum auditable epsilon"), std::string::npos);
    ASSERT_EQ(document.verdicts().size(), 1U);
    const CheckedClaim& verdict = document.verdicts().front();
    EXPECT_EQ(verdict.claim, "eps=1,delta=1e-05");
    EXPECT_EQ(verdict.outcome, Verdict::violated);
    EXPECT_EQ(verdict.confidence, 0.95);
    EXPECT_GT(verdict.epsilon_lower.value(), 1.0);
    EXPECT_GE(verdict.maximum.value(), verdict.epsilon_lower.value());
    EXPECT_FALSE(document.results().empty());
  }
  const std::string text = render_text(document_of(found, Detail::brief), {80, false});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 25);
}

TEST(AuditPlan, TooFewRunsAreOpen) {
  Observer quiet;
  AuditQuestion asked;
  asked.plan = ClaimedGuarantee{Epsilon(3.0), Delta(1e-5)};
  EXPECT_EQ(answer(asked, quiet).verdict, Verdict::none);
  asked.runs = 20;
  const AuditAnswer few = answer(asked, quiet);
  EXPECT_EQ(few.verdict, Verdict::open);
  EXPECT_FALSE(std::get<AuditPlan>(few.found).claim.enough());
  const Abstract top = *document_of(few, Detail::full).abstract();  // of the page
  EXPECT_NE(top.answer.plain().find("124 models with the record"), std::string::npos)
      << top.answer.plain();
  EXPECT_TRUE(top.advice.plain().starts_with("Train more models")) << top.advice.plain();
  asked.runs = 1000;
  EXPECT_EQ(answer(asked, quiet).verdict, Verdict::none);
}

}  // namespace
}  // namespace sfumato::lab
