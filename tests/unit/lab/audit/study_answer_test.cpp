#include <gtest/gtest.h>

#include <filesystem>

#include "lab/study/export_answer.hpp"
#include "lab/study/ledger_study.hpp"
#include "lab/study/plan_answer.hpp"
#include "lab/study/verify_ledger.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/lab/audit/audit_answer.hpp"
#include "sfumato/lab/study/run_answer.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/report/text.hpp"
#include "support/small_study.hpp"

namespace sfumato::lab {
namespace {

struct Stopping final : Observer {
  [[nodiscard]] bool stop_requested() const override { return true; }
};

/// A study of two policies, two pairs and three replicas, and the questions about it.
class StudyAnswers : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return small.dir / name; }
  [[nodiscard]] StudyRunQuestion run_question() const {
    return {path("s.toml"), {}, path("s.ledger"), 1};
  }
  [[nodiscard]] StudyRunAnswer run() {
    const auto found = answer(run_question(), observer);
    EXPECT_TRUE(found);
    return *found;
  }

  SmallStudy small;
  Observer observer;
};

std::size_t lines_of(const Document& document) {
  const std::string text = render_text(document, {80, false});
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string summary_of(const Document& document) {
  for (const Block& block : document.blocks()) {
    const auto* statement = std::get_if<Statement>(&block);
    if (statement != nullptr && statement->kind == StatementKind::summary)
      return statement->plain();
  }
  return "";
}

TEST_F(StudyAnswers, RunTrainsWhatIsLeft) {
  const StudyRunAnswer first = run();
  EXPECT_EQ(first.report.trials, 12U);
  EXPECT_EQ(first.report.finished, 12U);
  EXPECT_EQ(first.ranks, 0U);
  ASSERT_EQ(first.progress.policies.size(), 2U);
  EXPECT_EQ(first.progress.policies[1].policy, "anisotropic");
  EXPECT_EQ(first.progress.policies[1].done, 6U);
  EXPECT_EQ(first.progress.of, 12U);
  const StudyRunAnswer again = run();
  EXPECT_EQ(again.report.before, 12U);
  EXPECT_EQ(again.report.finished, 0U);
  for (const Detail detail : {Detail::brief, Detail::full}) {
    EXPECT_NE(summary_of(document_of(again, detail)).find("12 trials in"), std::string::npos);
  }
  EXPECT_LE(lines_of(document_of(again, Detail::brief)), 25U);
}

TEST_F(StudyAnswers, StoppedRunsSayHowToGoOn) {
  Stopping stopping;
  StudyRunQuestion question = run_question();
  question.settings = {"audit.pairs=1"};
  const auto stopped = answer(question, stopping);
  ASSERT_TRUE(stopped && stopped->report.stopped);
  const std::string text = summary_of(document_of(*stopped, Detail::brief));
  EXPECT_NE(text.find("Stopped after 0 of 6 trials. To continue: sfumato study run"),
            std::string::npos);
  EXPECT_NE(text.find("--set 'audit.pairs=1' --ledger"), std::string::npos);
}

TEST_F(StudyAnswers, StatusCopyAndExport) {
  (void)run();
  const StudyStatusAnswer status = answer(StudyStatusQuestion{path("s.ledger")}, observer);
  EXPECT_EQ(status.progress.done, 12U);
  EXPECT_FALSE(status.growing);
  EXPECT_EQ(status.seconds_left, 0.0);
  EXPECT_EQ(summary_of(document_of(status, Detail::full)), "12 of 12 trials done.");

  const StudyCopyAnswer copy =
      answer(StudyCopyQuestion{path("s.ledger"), path("c.ledger")}, observer);
  EXPECT_EQ(copy.trials, 12U);
  EXPECT_EQ(copy.looks, 0U);
  EXPECT_EQ(answer(StudyStatusQuestion{path("c.ledger")}, observer).progress.done, 12U);

  StudyExportQuestion question{path("c.ledger"), path("rows.csv")};
  EXPECT_EQ(answer(question, observer).rows, 24U);
  EXPECT_THROW((void)answer(question, observer), StorageError);  // it is there already
  question.force = true;
  EXPECT_EQ(answer(question, observer).rows, 24U);
  question.out = path("rows.txt");
  try {
    (void)answer(question, observer);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_TRUE(error.where().is_key());
    EXPECT_EQ(error.where().text(), "out");
  }
}

TEST_F(StudyAnswers, VerifyDecides) {
  (void)run();
  StudyVerifyQuestion question{path("s.ledger"), 1, 7, 1};
  const StudyVerifyAnswer some = answer(question, observer);
  EXPECT_EQ(some.verdict, Verdict::not_refuted);
  EXPECT_EQ(some.seed, 7U);
  question.sample = 12;
  const StudyVerifyAnswer all = answer(question, observer);
  EXPECT_EQ(all.verdict, Verdict::holds);
  EXPECT_EQ(all.result.trials, 12U);
  for (const Detail detail : {Detail::brief, Detail::full}) {
    const Document document = document_of(all, detail);
    ASSERT_EQ(document.verdicts().size(), 1U);
    EXPECT_EQ(document.verdicts()[0].outcome, Verdict::holds);
  }
  const Document brief = document_of(all, Detail::brief);
  EXPECT_EQ(std::get<Statement>(brief.blocks().front()).kind, StatementKind::verdict);

  StudyVerifyAnswer wrong = all;
  wrong.result.mismatches.push_back({{0, 1, 2}, "loss 1 there and 2 here"});
  wrong.verdict = Verdict::violated;
  const std::string text = render_text(document_of(wrong, Detail::brief), {80, false});
  EXPECT_NE(text.find("DIFFERENT"), std::string::npos);
  EXPECT_NE(text.find("loss 1 there and 2 here"), std::string::npos);

  question.sample = 0;
  EXPECT_THROW((void)answer(question, observer), InvalidArgument);
}

TEST_F(StudyAnswers, PlanSaysWhatRunsCanShow) {
  StudyPlanQuestion question{path("s.toml"), {"audit.pairs=1", "audit.replicas=10"}};
  question.seconds = 0.05;
  question.threads = 1;
  const StudyPlanAnswer plan = answer(question, observer);
  ASSERT_EQ(plan.claims.size(), 1U);
  EXPECT_EQ(plan.claims[0].claim.epsilon.nats(), 1.0);
  ASSERT_EQ(plan.claims[0].plans.size(), 4U);
  EXPECT_EQ(plan.claims[0].plans[0].strategy, ThresholdStrategy::combined);
  EXPECT_FALSE(plan.claims[0].enough());
  ASSERT_TRUE(plan.time);
  EXPECT_GT(plan.time->seconds_here, 0.0);
  EXPECT_FALSE(plan.time->seconds_there);

  // As many as it needs are enough.
  const auto needed = plan.claims[0].plans[0].needed.perfect;
  ASSERT_TRUE(needed);
  question.settings[1] = "audit.replicas=" + std::to_string(*needed);
  EXPECT_TRUE(answer(question, observer).claims[0].enough());

  EXPECT_LE(lines_of(document_of(plan, Detail::brief)), 25U);
  EXPECT_LT(lines_of(document_of(plan, Detail::brief)), lines_of(document_of(plan, Detail::full)));
}

TEST_F(StudyAnswers, PlansThatAreRefused) {
  const auto key_of = [&](const StudyPlanQuestion& question) {
    try {
      (void)answer(question, observer);
    } catch (const InvalidArgument& error) {
      return error.where().text();
    }
    return std::string("none");
  };
  StudyPlanQuestion question{path("s.toml")};
  question.eps = -1.0;
  EXPECT_EQ(key_of(question), "eps");
  question.eps = {};
  question.delta = 1.0;
  EXPECT_EQ(key_of(question), "delta");
  question.delta = {};
  question.confidence = 0.0;
  EXPECT_EQ(key_of(question), "confidence");
  question.confidence = {};
  question.seconds = 0.0;
  EXPECT_EQ(key_of(question), "seconds");
  question.seconds = 0.1;
  question.threads = question.ranks = 2;
  EXPECT_EQ(key_of(question), "ranks");
}

TEST_F(StudyAnswers, AStoppedPlanHasNoTime) {
  Stopping stopping;
  const StudyPlanAnswer plan = answer(StudyPlanQuestion{path("s.toml")}, stopping);
  EXPECT_FALSE(plan.time);
  EXPECT_FALSE(plan.claims.empty());
}

// Digests to match, and a trial of a policy that the study has not: nobody goes on with it, and nobody calls it a bug.
TEST_F(StudyAnswers, AForgedLedgerIsRefusedByEveryReader) {
  const TrialRunner runner(small.study());
  TrialResult forged;
  forged.key = {7, 0, 0};
  forged.worlds.resize(2);
  Ledger::open(path("s.ledger"), runner.identity(), study_differences).commit({forged});
  EXPECT_THROW((void)answer(run_question(), observer), InvalidArgument);
  EXPECT_THROW((void)answer(StudyStatusQuestion{path("s.ledger")}, observer), InvalidArgument);
  for (const char* out : {"s.csv", "s.npz"}) {
    StudyExportQuestion question;
    question.ledger = path("s.ledger");
    question.out = path(out);
    EXPECT_THROW((void)answer(question, observer), InvalidArgument);
  }
  StudyVerifyQuestion verify;
  verify.ledger = path("s.ledger");
  EXPECT_THROW((void)answer(verify, observer), InvalidArgument);
  AuditQuestion audit;
  audit.ledger = path("s.ledger");
  EXPECT_THROW((void)answer(audit, observer), InvalidArgument);
}

}  // namespace
}  // namespace sfumato::lab
