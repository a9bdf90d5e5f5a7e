#include "lab/report/report_answer.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "lab/report/report_question.hpp"
#include "lab/study/trial_runner.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/lab/audit/audit_answer.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/report.hpp"
#include "sfumato/report/text.hpp"
#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

/// A ledger whose study asks for other numbers than the defaults, with two policies and a claim.
class LedgerReport : public testing::Test {
 protected:
  LedgerReport() {
    const TrialRunner runner(parse_study(R"(title = "Two losses"
[model]
kind = "quadratic"
curvature = [1]
minimiser = [0]
other_minimiser = [1]
[train]
iterations = 5
learning_rate = 0.5
[[noise]]
policy = "isotropic"
variance = [0.01, 1000.0]
[audit]
replicas = 80
epsilons = [0.3]
delta = 1e-3
confidence = 0.9
claims = ["eps=1,delta=1e-5"]
)",
                                         "s.toml"));
    Ledger ledger = Ledger::open(ledger_, runner.identity(), study_differences);
    for (std::size_t g = 0; g < runner.groups(); ++g) ledger.commit(runner.run(g, observer_));
  }
  [[nodiscard]] AuditAnswer audited() {
    AuditQuestion question;
    question.ledger = ledger_;
    return answer(question, observer_);
  }
  [[nodiscard]] ReportQuestion question(const std::string& input, const std::string& out) const {
    ReportQuestion asked;
    asked.inputs = {input};
    asked.out = out;
    asked.written = "today";
    return asked;
  }
  Observer observer_;
  TempDir dir_;
  std::string ledger_ = dir_ / "a.ledger";
};

TEST_F(LedgerReport, IsTheAuditToTheLastDigit) {
  const AuditAnswer audit = audited();
  const ReportAnswer report = answer(question(ledger_, dir_ / "a.html"), observer_);
  EXPECT_EQ(report.verdict, audit.verdict);
  ASSERT_TRUE(report.json);
  const Report twin = read_report(read_file(report.json->path), report.json->path);
  ASSERT_EQ(twin.chapters.size(), 1U);
  EXPECT_EQ(render_json(twin.chapters.front()), render_json(document_of(audit, Detail::full)));
  EXPECT_EQ(report.title, "Audit: Two losses");
}

TEST_F(LedgerReport, TheTopCountsModelsAndNamesThePolicy) {
  const AuditAnswer audit = audited();
  const Document document = document_of(audit, Detail::full);
  ASSERT_TRUE(document.abstract());
  const Abstract& top = *document.abstract();
  // A trial is two models.
  std::uint64_t trials = 0;
  for (const auto& [status, count] : Ledger::read(ledger_).counts()) trials += count;
  EXPECT_TRUE(top.released.plain().starts_with(std::to_string(2 * trials) + " trained models"))
      << top.released.plain();
  EXPECT_NE(top.released.plain().find("\"Two losses\""), std::string::npos) << top.released.plain();
  EXPECT_TRUE(
      top.answer.plain().starts_with("The claim is false for policy isotropic-0.01: with 90 %"))
      << top.answer.plain();
}

TEST_F(LedgerReport, EveryVerdictNamesItsPolicy) {
  const Document document = document_of(audited(), Detail::full);
  ASSERT_EQ(document.verdicts().size(), 2U);
  EXPECT_EQ(document.verdicts()[0].policy, "isotropic-0.01");
  EXPECT_EQ(document.verdicts()[0].outcome, Verdict::violated);
  EXPECT_EQ(document.verdicts()[1].policy, "isotropic-1000");
  EXPECT_EQ(document.verdicts()[1].outcome, Verdict::not_refuted);
  std::size_t verdicts = 0;
  for (const Block& block : document.blocks()) {
    const auto* statement = std::get_if<Statement>(&block);
    if (statement == nullptr || statement->kind != StatementKind::verdict) continue;
    EXPECT_NE(statement->plain().find("(policy " + document.verdicts()[verdicts++].policy + ")"),
              std::string::npos)
        << statement->plain();
  }
  EXPECT_EQ(verdicts, 2U);
  const std::string text = render_text(document_of(audited(), Detail::brief), {80, false});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 26);
}

TEST_F(LedgerReport, TheJsonOfAPageNeverReplacesWhatWasRead) {
  const std::string input = dir_ / "x.json";
  put(input, render_json(document_of(audited(), Detail::full)));
  const std::string before = read_file(input);
  const ReportAnswer made = answer(question(input, dir_ / "x.html"), observer_);
  EXPECT_FALSE(made.json);
  EXPECT_EQ(read_file(input), before);
  EXPECT_NE(read_file(made.page.path).find("report-data"), std::string::npos);
  // Under another name there is one.
  EXPECT_TRUE(answer(question(input, dir_ / "y.html"), observer_).json);
  EXPECT_THROW((void)answer(question(input, input), observer_), InvalidArgument);
}

TEST_F(LedgerReport, FilesAreToldByTheirFirstBytes) {
  EXPECT_EQ(read_input(ledger_, {}).verdict, Verdict::violated);
  // No JSON: refused without reading a file that is larger than any report.
  const std::string large = dir_ / "large.bin";
  put(large, "no JSON");
  {
    std::ofstream file(large, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp((std::streamoff{257} << 20) - 1);
    file.put('\0');
  }
  EXPECT_NE(message_of<InvalidArgument>([&] {
              (void)read_input(large, {});
            }).find("neither JSON nor a ledger"),
            std::string::npos);
}

}  // namespace
}  // namespace sfumato::lab
